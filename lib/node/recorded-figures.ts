import { flightsOf, peakOverlap } from "../history/intervals";
import { OperationReader } from "../history/operation";
import { phaseDurationsOf } from "../history/phases";
import type { HistoryOpLine } from "../history/types";
import { recordMs } from "./latency-histogram";
import { COUNT_OF, RunFigures } from "./purchase-meter";

/** The figures of a node that can no longer report them, from the operations that it recorded. */
export function figuresOf(ndjson: string): RunFigures {
  const figures = new RunFigures();
  const reader = new OperationReader();
  const lines = ndjson.split("\n").filter(Boolean);
  const operations = lines.map((line) => reader.read(JSON.parse(line) as HistoryOpLine));
  for (const operation of operations) {
    figures.counts.requests += 1;
    figures.counts[COUNT_OF[operation.outcome]] += 1;
    recordMs(figures.latency, ((operation.answeredNs ?? operation.invokedNs) - operation.invokedNs) / 1e6);
    for (const [phase, durationMs] of phaseDurationsOf(operation)) recordMs(figures.phases[phase], durationMs);
  }
  figures.peakInFlight = peakOverlap(flightsOf(operations));
  return figures;
}
