"use client";

import { useRouter } from "next/navigation";
import { useAdminRequest } from "@/app/_hooks/use-admin-request";
import { callApi, problemSentence } from "@/app/_lib/api";
import { durationText } from "@/app/_lib/format";
import type { SweepProgress } from "@/lib/runs/sweep";
import { TokenDialog } from "../lab/token-dialog";
import button from "../ui/button.module.css";
import styles from "./sweep-grid.module.css";

interface SweepControlProps {
  readonly id: string;
  /** Null if the lab does not make this sweep now. */
  readonly active: SweepProgress | null;
  readonly hasRunningRun: boolean;
}

/** Cancels the sweep that the lab makes, or resumes an interrupted one, with the estimate of the time that is left. */
export function SweepControl({ id, active, hasRunningRun }: SweepControlProps) {
  const router = useRouter();
  const action = active === null ? "resume" : "cancel";
  const request = useAdminRequest(
    () => callApi(`/api/sweeps/${encodeURIComponent(id)}/${action}`, { method: "POST" }),
    () => {
      request.reset();
      router.refresh();
    },
  );
  return (
    <div className={styles.control}>
      <p className={styles.hint} role="status">
        {stateText(active, hasRunningRun)}
      </p>
      {active === null && hasRunningRun ? null : (
        <button type="button" className={button.plain} disabled={request.isSending} onClick={request.run}>
          {active === null ? "Resume" : request.isSending ? "Cancelling …" : "Cancel"}
        </button>
      )}
      {active === null || active.problems.length === 0 ? null : (
        <ul className={styles.problems}>
          {active.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      <p className={styles.problems} role="alert">
        {request.problem === null ? "" : problemSentence(request.problem)}
      </p>
      <TokenDialog {...request.tokenDialog} />
    </div>
  );
}

function stateText(active: SweepProgress | null, hasRunningRun: boolean): string {
  if (active === null) {
    return hasRunningRun
      ? "A command in a terminal makes this sweep."
      : "The sweep is not complete. The lab does not make its runs now.";
  }
  if (active.remainingMs === null)
    return "The lab makes the runs. An estimate follows when the first one has finished.";
  return `The lab makes the runs: about ${durationText(active.remainingMs)} left, by the mean of the finished ones.`;
}
