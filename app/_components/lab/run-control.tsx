"use client";

import type { ApiProblem } from "@/app/_lib/api";
import { problemSentence } from "@/app/_lib/api";
import type { RunView } from "@/app/_lib/run-view";
import button from "../ui/button.module.css";
import styles from "./run-control.module.css";

interface RunControlProps {
  readonly phase: RunView["phase"];
  /** Why no sale can be started now; null when one can. */
  readonly blocked: string | null;
  readonly problem: ApiProblem | null;
  readonly onKeys: () => void;
}

const LABELS: Record<RunView["phase"], string> = {
  idle: "Run sale",
  opening: "Opening …",
  running: "Running …",
  finished: "Run sale",
};

export function RunControl({ phase, blocked, problem, onKeys }: RunControlProps) {
  const busy = phase === "opening" || phase === "running";
  const note = problem === null ? (busy ? null : blocked) : problemSentence(problem);
  return (
    <div className={styles.control}>
      <button type="submit" className={button.primary} disabled={busy || blocked !== null}>
        {LABELS[phase]}
      </button>
      <div role="alert">{note === null ? null : <p className={styles.note}>{note}</p>}</div>
      <p className={styles.keys}>
        <kbd>R</kbd> run <kbd>J</kbd>
        <kbd>K</kbd> strategy{" "}
        <button type="button" className={styles.allKeys} onClick={onKeys}>
          <kbd>?</kbd> all keys
        </button>
      </p>
    </div>
  );
}
