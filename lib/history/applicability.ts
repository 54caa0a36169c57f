import { measuresOf } from "./check-history";
import type { ViolationKind } from "./finding";
import type { History } from "./history";

export type CheckName = ViolationKind | "liveness" | "fairness" | "handOff";

/** The reason for each check that does not apply to this history; other checks are absent. O(n). */
export function notApplicable(history: History): Partial<Readonly<Record<CheckName, string>>> {
  const { ops, run, end, faults, isComplete } = history;
  const hasHolds = ops.some(({ grantedNs }) => grantedNs !== undefined);
  const hasTokens = ops.some(({ fencingToken }) => fencingToken !== undefined);
  const { fairness, handOff } = measuresOf(history);
  const reasons: Partial<Record<CheckName, string>> = {};
  const unless = (isMet: boolean, reason: string, ...checks: readonly CheckName[]) => {
    if (!isMet) for (const check of checks) reasons[check] ??= reason;
  };
  unless(
    end !== null,
    "the orders were not read from the database",
    "oversold",
    "undersold",
    "acknowledgedRows",
    "unknownRows",
  );
  unless(end !== null, "the orders were not read from the database", "failoverLosses");
  unless(end !== null, "the orders were not read from the database", "refusedRows", "strayRows");
  unless(typeof end?.counter === "number", "the strategy has no counter beside the row", "counterDrift");
  unless(isComplete, "the history is incomplete", "strayRows");
  unless((run?.limitPerBuyer ?? null) !== null, "no limit per buyer", "duplicateClaims");
  unless(hasHolds, "no hold of a lock recorded", "overlappingHolds", "fencingOrder", "staleWrites", "handOff");
  unless(hasTokens, "no fencing token recorded", "fencingOrder");
  unless(
    faults.some(({ promotedReplica }) => promotedReplica),
    "no replica of the database was promoted",
    "failoverLosses",
  );
  unless(faults.length > 0, "no fault was injected", "liveness");
  unless(new Set(ops.map(({ clock }) => clock)).size < 2, "operations ran on several hosts' clocks", "liveness");
  unless(fairness.jain !== null, "no purchase waited and was served", "fairness");
  unless(handOff.count > 0, "no purchase was waiting at a release", "handOff");
  return reasons;
}
