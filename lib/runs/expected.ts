import { faultsById } from "../faults/all-faults";
import { deadHoldEndsAfterMs } from "../faults/dead-hold";
import type { FaultRequest } from "../faults/request";
import type { ExpectedVerdict, StrategyTraits } from "../locks/types";

/** As much of a run as its expected verdict hangs on. */
export interface ExpectationTerms {
  readonly nodes: number;
  readonly holdMs: number;
  readonly ttlMs: number;
  /** False: fencing tokens are not checked; absent: they are. */
  readonly fencing?: boolean | undefined;
  readonly faults?: readonly FaultRequest[] | undefined;
}

/** What the traits say of a run: unsafe where the strategy is, where its hold cannot last, or where a fault breaks it. */
export function expectedVerdict(traits: StrategyTraits, terms: ExpectationTerms): ExpectedVerdict {
  const { nodes, holdMs, ttlMs, fencing = true, faults = [] } = terms;
  const calm = nodes > 1 ? traits.expected.threeNodes : traits.expected.alone;
  if (calm === "unsafe" || outlivesItsLease(traits, { holdMs, ttlMs })) return "unsafe";
  const subject = { traits, ttlMs, nodes, fencing };
  const isBroken = faults.some(({ id, durationMs }) => {
    const fault = faultsById[id];
    return fault.expectedEffectOf(subject, durationMs ?? fault.defaultDurationMs(subject) ?? 0) === "breaks";
  });
  return isBroken ? "unsafe" : "safe";
}

/** A lease that nobody renews and nobody looks at again ends as a dead holder's does; and the work takes as long. */
function outlivesItsLease(traits: StrategyTraits, { holdMs, ttlMs }: { holdMs: number; ttlMs: number }): boolean {
  return traits.ownerless === true && holdMs >= deadHoldEndsAfterMs(traits, ttlMs);
}
