import { measuresOf } from "./check-history";
import type { ViolationKind } from "./finding";
import type { History } from "./history";

export type CheckName = ViolationKind | "liveness" | "fairness" | "handOff";

/** Why a check had nothing to look at in this history; those that had are left out. O(n). */
export function notApplicable(history: History): Partial<Readonly<Record<CheckName, string>>> {
  const { ops, run, end, faults, isComplete } = history;
  const hasHolds = ops.some(({ grantedNs }) => grantedNs !== undefined);
  const hasTokens = ops.some(({ fencingToken }) => fencingToken !== undefined);
  const { fairness, handOff } = measuresOf(history);
  const reasons: Partial<Record<CheckName, string>> = {};
  const unless = (isThere: boolean, reason: string, ...checks: readonly CheckName[]) => {
    if (!isThere) for (const check of checks) reasons[check] ??= reason;
  };
  unless(end !== null, "the rows were not read", "oversold", "undersold", "acknowledgedRows", "unknownRows");
  unless(end !== null, "the rows were not read", "refusedRows", "strayRows");
  unless(isComplete, "the history is not complete", "strayRows");
  unless((run?.limitPerBuyer ?? null) !== null, "no limit per buyer", "duplicateClaims");
  unless(hasHolds, "no hold of a lock recorded", "overlappingHolds", "fencingOrder", "staleWrites", "handOff");
  unless(hasTokens, "no fencing token recorded", "fencingOrder");
  unless(faults.length > 0, "no fault was made", "liveness");
  unless(new Set(ops.map(({ clock }) => clock)).size < 2, "on several hosts' clocks", "liveness");
  unless(fairness.jain !== null, "nobody waited and was served", "fairness");
  unless(handOff.count > 0, "nobody was waiting at a release", "handOff");
  return reasons;
}
