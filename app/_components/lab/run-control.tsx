"use client";

import type { ApiProblem } from "@/app/_lib/api";
import { problemSentence } from "@/app/_lib/api";
import { isBusy, type RunView } from "@/app/_lib/run-view";
import button from "../ui/button.module.css";
import styles from "./run-control.module.css";

interface RunControlProps {
  readonly view: RunView;
  /** Why a sale cannot start now; null when it can. */
  readonly blocked: string | null;
  readonly problem: ApiProblem | null;
  readonly onKeys: () => void;
}

const BUSY_LABELS: Partial<Record<RunView["phase"], string>> = { opening: "Starting …", running: "Running …" };

export function RunControl({ view, blocked, problem, onKeys }: RunControlProps) {
  const busy = isBusy(view);
  const note = problem === null ? (busy ? null : blocked) : problemSentence(problem);
  return (
    <div className={styles.control}>
      <button type="submit" className={button.primary} disabled={busy || blocked !== null}>
        {busy ? BUSY_LABELS[view.phase] : "Run sale"}
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
