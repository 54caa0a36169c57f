import assert from "node:assert/strict";
import type { StrategyTraits } from "../../../../lib/locks/types";
import { type LockCase, withoutServer } from "../case";
import { measureLoss } from "../measure-loss";

/** Long, so the delays of a busy machine are a small share of it. */
const TTL_MS = 3_000;
/** Extra share for delays. With it, the signal still comes before the lease would have expired. */
const TOLERANCE = 2 / 3;

export const lossToSignal: LockCase = {
  name: () => "signals the loss to its holder within the share of the lease or session that its design allows",
  notApplicable: (traits: StrategyTraits) => {
    if (traits.ownerless) return "its holder never checks the lease";
    if (traits.expiryClock === "none") return withoutServer(traits) ?? "it has no lease and no session to lose";
    return null;
  },
  async run(tested) {
    const { toSignalMs, againstMs, share: limit, wasSignalledFirst } = await measureLoss(tested, TTL_MS);
    const share = toSignalMs / againstMs;
    assert.ok(
      share <= limit + TOLERANCE,
      `expected the signal within ${Math.round(100 * (limit + TOLERANCE))} % of ${againstMs} ms, found ${toSignalMs.toFixed(0)} ms`,
    );
    assert.notEqual(wasSignalledFirst, false, "the next holder entered before the first one was signalled");
  },
};
