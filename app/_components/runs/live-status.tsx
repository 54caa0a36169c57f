"use client";

import type { useLiveRun } from "@/app/_hooks/use-live-run";
import { problemSentence } from "@/app/_lib/api";
import { StopButton } from "../lab/stop-button";
import { TokenDialog } from "../lab/token-dialog";
import styles from "./live-run.module.css";

/** Says that a run is active, and offers to stop it. */
export function LiveStatus({ live, ended }: { live: ReturnType<typeof useLiveRun>; ended: string }) {
  const { document, hasEnded, stopping } = live;
  return (
    <>
      <div className={styles.bar}>
        <p role="status">{hasEnded ? ended : "This run is active. Its figures come from the store nodes."}</p>
        {hasEnded ? null : <StopButton runId={document.id} stopping={stopping} />}
      </div>
      <p role="alert">{stopping.problem === null ? null : problemSentence(stopping.problem)}</p>
      <TokenDialog {...stopping.token} />
    </>
  );
}
