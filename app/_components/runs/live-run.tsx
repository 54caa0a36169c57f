"use client";

import { useLiveRun } from "@/app/_hooks/use-live-run";
import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { SixCharts } from "../chart/six-charts";
import { StreamNotice } from "../lab/stream-notice";
import { RunBody } from "../run/run-body";
import { ArmFault } from "./arm-fault";
import styles from "./live-run.module.css";
import { LiveStatus } from "./live-status";

interface LiveRunProps {
  /** A run that was active when the page loaded. */
  readonly document: RunDocument;
  readonly samples: readonly RunSample[];
}

/** The page of an active run: follows its event stream, and loads the page of the ended run when it ends. */
export function LiveRun({ document: opened, samples: known }: LiveRunProps) {
  const live = useLiveRun(opened, known);
  const { view, document, samples, model, hasEnded, reconnect } = live;
  return (
    <section className={styles.live} aria-label="Active run" data-testid="live-run">
      <LiveStatus live={live} ended="The run has ended. Loading its page …" />
      {hasEnded ? null : <ArmFault document={document} live={samples.at(-1)?.faults ?? []} />}
      <StreamNotice view={view} onReconnect={reconnect} />
      <RunBody
        model={model}
        charts={<SixCharts initial={model.figures.initial} series={model.series} />}
        evidence={null}
      />
    </section>
  );
}
