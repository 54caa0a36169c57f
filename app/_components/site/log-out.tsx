"use client";

import { useState } from "react";
import { callApi, problemSentence } from "@/app/_lib/api";
import header from "./header-control.module.css";
import { useLabStatus } from "./lab-status";
import styles from "./log-out.module.css";

/** Ends the admin session of this browser. Shown only while there is one. */
export function LogOut() {
  const { isLoggedIn, setLoggedIn } = useLabStatus();
  const [isSending, setIsSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (!isLoggedIn) return null;
  const logOut = async () => {
    setIsSending(true);
    const result = await callApi("/api/session", { method: "DELETE" });
    setIsSending(false);
    setProblem(result.ok ? null : problemSentence(result.problem));
    if (result.ok) setLoggedIn(false);
  };
  return (
    <div className={styles.session}>
      <button type="button" className={header.button} disabled={isSending} onClick={() => void logOut()}>
        Log out
      </button>
      <p className={styles.problem} role="alert">
        {problem}
      </p>
    </div>
  );
}
