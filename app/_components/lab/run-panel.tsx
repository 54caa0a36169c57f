"use client";

import { useMemo } from "react";
import { LabLink } from "@/app/_components/ui/lab-link";
import type { Lab } from "@/app/_hooks/use-lab";
import { useRecordedSeries } from "@/app/_hooks/use-recorded-series";
import { settingsLine } from "@/app/_lib/compare-rows";
import { durationText } from "@/app/_lib/format";
import { configOfRun, type SaleConfig } from "@/app/_lib/run-config";
import { modelOf, openingModel, type RunModel } from "@/app/_lib/run-model";
import type { RunSeries } from "@/app/_lib/run-series";
import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { SixCharts } from "../chart/six-charts";
import { RunBody } from "../run/run-body";
import { shopHrefOf } from "../shop/run-strip";
import { When } from "../ui/when";
import { EmptyRunPanel } from "./empty-run-panel";
import { LabEvidence } from "./lab-evidence";
import styles from "./run-panel.module.css";
import { StreamNotice } from "./stream-notice";

/** Right side of the Lab: the active run, else the last run of the chosen strategy, else a prompt to run a sale. */
export function RunPanel({ lab }: { lab: Lab }) {
  const { view, lastRuns } = lab;
  if (view.phase === "opening") {
    return <OpeningRun config={view.document === null ? lab.config : configOfRun(view.document)} />;
  }
  const document = view.document ?? lastRuns.run;
  if (document === null) return <EmptyRunPanel lab={lab} />;
  const samples = view.document === null ? lastRuns.samples : view.samples;
  return (
    <article className={styles.panel} data-testid="run-panel" data-status={document.status} data-run={document.id}>
      <RunLine document={document} samples={samples} isLast={view.document === null} />
      <StreamNotice view={view} onReconnect={lab.reconnect} />
      <RunDetails document={document} samples={samples} />
    </article>
  );
}

/** Charts show live samples while the run is active and the recorded history afterwards. */
function RunDetails({ document, samples }: { document: RunDocument; samples: readonly RunSample[] }) {
  const model = useMemo(() => modelOf(document, samples), [document, samples]);
  const recorded = useRecordedSeries(document);
  return <RunPanelBody model={model} series={recorded ?? model.series} document={document} />;
}

interface RunPanelBodyProps {
  readonly model: RunModel;
  readonly series: RunSeries;
  /** Null until the lab has opened the run. */
  readonly document: RunDocument | null;
}

function RunPanelBody({ model, series, document }: RunPanelBodyProps) {
  const { figures } = model;
  const nodes = model.nodeRows.map(({ node }) => node);
  const charts = <SixCharts initial={figures.initial} series={series} />;
  return (
    <RunBody model={model} charts={charts} evidence={<LabEvidence document={document} nodes={nodes} />} evidenceLast />
  );
}

interface RunLineProps {
  readonly document: RunDocument;
  readonly samples: readonly RunSample[];
  /** An earlier run, not one started or followed on this page. */
  readonly isLast: boolean;
}

/** Strategy and settings of the run. Always one line, so that the layout does not shift when the run finishes. */
function RunLine({ document, samples, isLast }: RunLineProps) {
  const running = document.status === "running";
  return (
    <header className={styles.line}>
      <p>
        <LabLink href={`/strategies/${document.strategy}`} title="How this strategy works">
          <code>{document.strategy}</code>
        </LabLink>{" "}
        <span>{settingsLine(document.config)}</span>
      </p>
      <p className={styles.state}>
        {running ? (
          <>
            <span className={styles.pulse} aria-hidden="true" />
            <span className={styles.clock}>{durationText(samples.at(-1)?.atMs ?? 0)}</span>{" "}
            <LabLink href={shopHrefOf(document.target)}>Join this sale</LabLink>
          </>
        ) : (
          <>
            {isLast ? "last run" : document.status} <When epochMs={document.startedAtEpochMs} />{" "}
            <LabLink href={`/runs/${document.id}`}>Open this run</LabLink>
          </>
        )}
      </p>
    </header>
  );
}

function OpeningRun({ config }: { config: SaleConfig }) {
  const model = openingModel(config);
  return (
    <article className={styles.panel} data-testid="run-panel" data-status="opening">
      <header className={styles.line}>
        <p>
          <code>{config.strategy}</code> <span>preparing nodes and stock</span>
        </p>
      </header>
      <RunPanelBody model={model} series={model.series} document={null} />
    </article>
  );
}
