import type { RunDocument } from "@/lib/runs/document";
import { buyersLatencyOf } from "./buyers-latency";
import { verdictText } from "./verdict";

/** The fields of a run that a row of the list shows; sending fifty whole documents would make the page too large. */
export interface ListedRun
  extends Pick<RunDocument, "id" | "name" | "strategy" | "config" | "startedAtEpochMs" | "status" | "verdict"> {
  readonly oversold: number;
  /** The main sentence of the verdict. */
  readonly why: string;
  /** 99th percentile as the buyers saw it; null if the load generator did not report. */
  readonly buyersP99Ms: number | null;
}

export function listedRun(document: RunDocument): ListedRun {
  const { id, name, strategy, config, startedAtEpochMs, status, verdict, violations } = document;
  return {
    id,
    ...(name === undefined ? {} : { name }),
    strategy,
    config,
    startedAtEpochMs,
    status,
    verdict,
    oversold: violations.oversold,
    why: status === "running" ? "" : verdictText(document).lead,
    buyersP99Ms: buyersLatencyOf(document)?.p99 ?? null,
  };
}
