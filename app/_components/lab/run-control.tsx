"use client";

import type { useStopRun } from "@/app/_hooks/use-stop-run";
import { type ApiProblem, problemSentence } from "@/app/_lib/api";
import { isBusy, type RunView } from "@/app/_lib/run-view";
import button from "../ui/button.module.css";
import styles from "./run-control.module.css";
import { StopButton } from "./stop-button";

interface RunControlProps {
  readonly view: RunView;
  /** Why a sale cannot start now; null when it can. */
  readonly blocked: string | null;
  readonly problem: ApiProblem | null;
  readonly stopping: ReturnType<typeof useStopRun>;
  readonly onKeys: () => void;
}

const BUSY_LABELS: Partial<Record<RunView["phase"], string>> = { opening: "Starting …", running: "Running …" };

/** Starts and stops the sale. While a run is active, in this page or elsewhere, it says so and offers no other run. */
export function RunControl({ view, blocked, problem, stopping, onKeys }: RunControlProps) {
  const busy = isBusy(view);
  const failure = problem ?? stopping.problem;
  const note = failure === null ? (busy ? null : blocked) : problemSentence(failure);
  const active = busy ? view.document : null;
  const isOpening = view.phase === "opening";
  return (
    <div className={styles.control}>
      <div className={styles.buttons}>
        <button type="submit" className={button.primary} disabled={busy || blocked !== null}>
          {busy ? BUSY_LABELS[view.phase] : "Run sale"}
        </button>
        {active === null || isOpening ? null : <StopButton runId={active.id} stopping={stopping} />}
      </div>
      <div role="alert">{note === null ? null : <p className={styles.note}>{note}</p>}</div>
      {busy ? (
        <p className={styles.keys} role="status">
          {active === null || isOpening ? "The lab opens a run." : `${active.strategy} runs. One run at a time.`}
        </p>
      ) : (
        <p className={styles.keys}>
          <kbd>R</kbd> run <kbd>J</kbd>
          <kbd>K</kbd> strategy{" "}
          <button type="button" className={styles.allKeys} onClick={onKeys}>
            <kbd>?</kbd> all keys
          </button>
        </p>
      )}
    </div>
  );
}
