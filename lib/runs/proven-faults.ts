import { faultsById } from "../faults/all-faults";
import type { Fault } from "../faults/fault";
import type { History } from "../history/history";
import { traitsOf } from "../stock/stock-strategies";
import type { RunDocument } from "./document";

/** Moves the faults that had nothing to affect to `missedFaults`: the history must show it, not only the fault's own event. */
export function withProvenFaults(document: RunDocument, history: History): RunDocument {
  const run = { traits: traitsOf(document.strategy), ttlMs: document.config.ttlMs };
  const unproven = document.faults.flatMap((event) => {
    const fault: Fault | undefined = (faultsById as Readonly<Record<string, Fault>>)[event.faultId];
    const interval = { fromNs: BigInt(event.fromNs), toNs: BigInt(event.toNs) };
    const reason = fault?.whyUnproven?.(history, interval, run) ?? null;
    return reason === null ? [] : [{ event, reason }];
  });
  if (unproven.length === 0) return document;
  return {
    ...document,
    faults: document.faults.filter((event) => !unproven.some((each) => each.event === event)),
    missedFaults: [
      ...(document.missedFaults ?? []),
      ...unproven.map(({ event, reason }) => ({ faultId: event.faultId, reason })),
    ],
  };
}
