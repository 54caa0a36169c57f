import { flightsOf, peakOverlap } from "../history/intervals";
import { type Operation, readOperations } from "../history/operation";
import { phaseDurationsOf } from "../history/phases";
import type { HistoryOpLine } from "../history/types";
import { recordMs } from "./latency-histogram";
import { COUNT_OF, RunFigures } from "./purchase-meter";

/** The operations of a recorder's text. */
export function recordedOperations(ndjson: string): Operation[] {
  const lines = ndjson.split("\n").filter(Boolean);
  return readOperations(lines.map((line) => JSON.parse(line) as HistoryOpLine));
}

/** The figures of a node that can no longer report them, from the operations that it recorded. */
export function figuresOf(operations: readonly Operation[]): RunFigures {
  const figures = new RunFigures();
  for (const operation of operations) {
    figures.counts.requests += 1;
    figures.counts[COUNT_OF[operation.outcome]] += 1;
    recordMs(figures.latency, ((operation.answeredNs ?? operation.invokedNs) - operation.invokedNs) / 1e6);
    for (const [phase, durationMs] of phaseDurationsOf(operation)) recordMs(figures.phases[phase], durationMs);
  }
  figures.peakInFlight = peakOverlap(flightsOf(operations));
  return figures;
}
