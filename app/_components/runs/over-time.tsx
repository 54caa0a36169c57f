import { type ReactNode, Suspense } from "react";
import { plural } from "@/app/_lib/format";
import { seriesOfHistory } from "@/app/_lib/history-series";
import { readEvidence } from "@/app/_lib/lab-data";
import { blankSeries, type RunSeries } from "@/app/_lib/run-series";
import type { RunDocument } from "@/lib/runs/document";

interface OverTimeProps {
  readonly document: RunDocument;
  /** Series from the samples, for an active run or a run without a history. */
  readonly sampled: RunSeries;
  readonly children: (series: RunSeries) => ReactNode;
}

/** Charts from the history of an ended run; empty charts reserve their space while it loads. */
export function OverTime({ document, sampled, children }: OverTimeProps) {
  if (document.status === "running") return children(sampled);
  const blank = `Reading ${plural(document.counts.requests, "recorded purchase")} …`;
  return (
    <Suspense fallback={children(blankSeries(blank))}>
      <Recorded document={document} sampled={sampled}>
        {children}
      </Recorded>
    </Suspense>
  );
}

async function Recorded({ document, sampled, children }: OverTimeProps) {
  const { series, faults } = await readEvidence(document);
  return children(series === null ? sampled : seriesOfHistory(series, faults, document.stock.orders));
}
