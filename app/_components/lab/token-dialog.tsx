"use client";

import { type FormEvent, useEffect, useId, useState } from "react";
import { callApi, problemSentence } from "@/app/_lib/api";
import { useLabStatus } from "../site/lab-status";
import button from "../ui/button.module.css";
import { Dialog } from "../ui/dialog";
import styles from "./small-form.module.css";

interface TokenDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** Called when the lab has accepted the token; the caller repeats the rejected request. */
  readonly onAccepted: () => void;
}

/** Prompts for the admin token and sends it to the server, which stores it in an HttpOnly cookie. */
export function TokenDialog({ open, onClose, onAccepted }: TokenDialogProps) {
  const [adminToken, setAdminToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const { setLoggedIn } = useLabStatus();
  // A page may have several of these dialogs.
  const [inputId, problemId] = [useId(), useId()];

  useEffect(() => {
    // The lab has rejected a request, so an earlier session has ended.
    if (open) setLoggedIn(false);
  }, [open, setLoggedIn]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await callApi("/api/session", { method: "POST", body: { token: adminToken } });
    if (!result.ok) return setProblem(problemSentence(result.problem));
    setAdminToken("");
    setProblem(null);
    setLoggedIn(true);
    onAccepted();
  };

  return (
    <Dialog open={open} title="Admin token" onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <p className="muted">
          Changing this lab requires the admin token. The person who started the lab set it as LAB_ADMIN_TOKEN.
        </p>
        <label htmlFor={inputId}>Admin token</label>
        <input
          id={inputId}
          type="password"
          autoComplete="current-password"
          required
          value={adminToken}
          aria-invalid={problem !== null}
          aria-describedby={problemId}
          onChange={(event) => setAdminToken(event.target.value)}
        />
        <p className="alarm" id={problemId} role="alert">
          {problem}
        </p>
        <button type="submit" className={button.primary}>
          Continue
        </button>
      </form>
    </Dialog>
  );
}
