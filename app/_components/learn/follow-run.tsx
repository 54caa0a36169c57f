"use client";

import { useLiveRun } from "@/app/_hooks/use-live-run";
import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { StreamNotice } from "../lab/stream-notice";
import { VerdictHead } from "../run/verdict-head";
import { LiveStatus } from "../runs/live-status";
import styles from "./learn.module.css";

/** The chapter's run while it is active. When it ends, the page loads its result. */
export function FollowRun({ document, samples }: { document: RunDocument; samples: readonly RunSample[] }) {
  const live = useLiveRun(document, samples);
  return (
    <div className={styles.live} data-testid="chapter-run">
      <LiveStatus live={live} ended="The run has ended. The lab checks its history …" />
      <StreamNotice view={live.view} onReconnect={live.reconnect} />
      <VerdictHead model={live.model} />
    </div>
  );
}
