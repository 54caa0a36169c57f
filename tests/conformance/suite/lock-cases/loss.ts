import assert from "node:assert/strict";
import type { StrategyTraits } from "../../../../lib/locks/types";
import { type LockCase, withoutServer } from "../case";
import { measureLoss } from "../measure-loss";

/** Long, so that the delays of a busy machine are a small share of it. */
const TTL_MS = 3_000;
/** What those may take on top of the design's share: it is to be told before the lease would have ended by itself. */
const SLACK = 2 / 3;

export const lossToSignal: LockCase = {
  name: () => "tells its holder that the hold is lost, in the share of the lease or session that its design allows",
  notApplicable: (traits: StrategyTraits) => {
    if (traits.ownerless) return "its holder never looks at its hold again";
    if (traits.expiryClock === "none") return withoutServer(traits) ?? "no lease and no session: nothing can be lost";
    return null;
  },
  async run(subject) {
    const { toSignalMs, againstMs, breaker, toldBeforeNext } = await measureLoss(subject, TTL_MS);
    const share = toSignalMs / againstMs;
    assert.ok(share <= breaker.share + SLACK, `told after ${toSignalMs.toFixed(0)} ms of ${againstMs}`);
    assert.notEqual(toldBeforeNext, false, "the next holder entered before the first was told");
  },
};
