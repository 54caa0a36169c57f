"use client";

import { type FormEvent, useState } from "react";
import { callApi, problemSentence } from "@/app/_lib/api";
import button from "../ui/button.module.css";
import { Dialog } from "../ui/dialog";
import styles from "./small-form.module.css";

interface TokenDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** Called once the lab has taken the token: try again what was refused. */
  readonly onAccepted: () => void;
}

/** Asks for the lab's admin token and hands it to the server, which keeps it in a cookie no script can read. */
export function TokenDialog({ open, onClose, onAccepted }: TokenDialogProps) {
  const [adminToken, setAdminToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await callApi("/api/session", { method: "POST", body: { token: adminToken } });
    if (!result.ok) return setProblem(problemSentence(result.problem));
    setAdminToken("");
    setProblem(null);
    onAccepted();
  };

  return (
    <Dialog open={open} title="Admin token" onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <p className="muted">This lab lets only those change it who have its admin token (LAB_ADMIN_TOKEN).</p>
        <label htmlFor="admin-token">Admin token</label>
        <input
          id="admin-token"
          type="password"
          autoComplete="current-password"
          required
          value={adminToken}
          aria-invalid={problem !== null}
          aria-describedby="admin-token-problem"
          onChange={(event) => setAdminToken(event.target.value)}
        />
        <p className="alarm" id="admin-token-problem" role="alert">
          {problem}
        </p>
        <button type="submit" className={button.primary}>
          Continue
        </button>
      </form>
    </Dialog>
  );
}
