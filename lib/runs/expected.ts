import { faultsById } from "../faults/all-faults";
import { orphanedLockMs } from "../faults/orphaned-lock";
import type { FaultRequest } from "../faults/request";
import type { ExpectedVerdict, StrategyTraits } from "../locks/types";

/** The settings of a run that its expected verdict depends on. */
export interface ExpectationTerms {
  readonly nodes: number;
  readonly holdMs: number;
  readonly ttlMs: number;
  /** False: fencing tokens are not checked; absent: they are. */
  readonly fencing?: boolean | undefined;
  readonly faults?: readonly FaultRequest[] | undefined;
}

/** Unsafe if the strategy is unsafe without a fault, if the work outlasts its lease, or if a fault makes it unsafe. */
export function expectedVerdict(traits: StrategyTraits, terms: ExpectationTerms): ExpectedVerdict {
  const { nodes, holdMs, ttlMs, fencing = true, faults = [] } = terms;
  const withoutFault = nodes > 1 ? traits.expected.threeNodes : traits.expected.alone;
  if (withoutFault === "unsafe" || outlivesItsLease(traits, { holdMs, ttlMs })) return "unsafe";
  const run = { traits, ttlMs, nodes, fencing };
  const isBroken = faults.some(({ id, durationMs }) => {
    const fault = faultsById[id];
    return fault.expectationOf(run, durationMs ?? fault.defaultDurationMs(run) ?? 0).effect === "unsafe";
  });
  return isBroken ? "unsafe" : "safe";
}

/** An ownerless lease is neither renewed nor checked, so work that takes as long as the lease loses it. */
function outlivesItsLease(traits: StrategyTraits, { holdMs, ttlMs }: { holdMs: number; ttlMs: number }): boolean {
  return traits.ownerless === true && holdMs >= orphanedLockMs(traits, ttlMs);
}
