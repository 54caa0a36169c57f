"use client";

import { useRouter } from "next/navigation";
import { useEffect, useMemo } from "react";
import { useRun } from "@/app/_hooks/use-run";
import { useStopRun } from "@/app/_hooks/use-stop-run";
import { problemSentence } from "@/app/_lib/api";
import { modelOf } from "@/app/_lib/run-model";
import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { SixCharts } from "../chart/six-charts";
import { StopButton } from "../lab/stop-button";
import { StreamNotice } from "../lab/stream-notice";
import { TokenDialog } from "../lab/token-dialog";
import { RunBody } from "../run/run-body";
import { ArmFault } from "./arm-fault";
import styles from "./live-run.module.css";

interface LiveRunProps {
  /** A run that was active when the page loaded. */
  readonly document: RunDocument;
  readonly samples: readonly RunSample[];
}

/** The page of an active run: follows its event stream, and loads the page of the ended run when it ends. */
export function LiveRun({ document: opened, samples: known }: LiveRunProps) {
  const router = useRouter();
  const { view, reconnect } = useRun({ active: opened, samples: known });
  const stopping = useStopRun();
  const document = view.document ?? opened;
  const { samples } = view;
  const model = useMemo(() => modelOf(document, samples), [document, samples]);
  const hasEnded = view.phase === "finished";

  useEffect(() => {
    if (hasEnded) router.refresh();
  }, [hasEnded, router]);

  return (
    <section className={styles.live} aria-label="Active run" data-testid="live-run">
      <div className={styles.bar}>
        <p role="status">
          {hasEnded
            ? "The run has ended. Loading its page …"
            : "This run is active. Its figures come from the store nodes."}
        </p>
        {hasEnded ? null : <StopButton runId={document.id} stopping={stopping} />}
      </div>
      <p role="alert">{stopping.problem === null ? null : problemSentence(stopping.problem)}</p>
      {hasEnded ? null : <ArmFault document={document} live={samples.at(-1)?.faults ?? []} />}
      <StreamNotice view={view} onReconnect={reconnect} />
      <RunBody
        model={model}
        charts={<SixCharts initial={model.figures.initial} series={model.series} />}
        evidence={null}
      />
      <TokenDialog {...stopping.token} />
    </section>
  );
}
