import type { Fault } from "./fault";
import { untilRestarted } from "./killed-node";
import { arrivals } from "./matrix-sale";
import { crashedLockMs, crashedLockReason, whyExpiryIsChance } from "./orphaned-lock";

/** Long enough for the answer to the call that arms the kill. */
const KILL_AFTER_MS = 100;

/** Kills a store node while its purchases are at any step. Each of them has 0 or 1 order, and the stock agrees. */
export const storeNodeCrash: Fault = {
  id: "store-node-crash",
  stopsNode: true,
  does: "Kills a store node (SIGKILL) in mid-sale, at any step of its purchases. The lab starts the node again.",
  proof:
    "the node's next process reports the SIGKILL and the purchases that it ended; another process of the node answers",
  defaultDurationMs: () => null,

  whyNotApplicable({ nodes }) {
    return nodes < 2 ? "it needs a second store node that sells while one store node is down" : null;
  },

  // The node may hold the lock when it ends.
  expectationOf: ({ traits, ttlMs }) => ({
    effect: traits.kind === "lock" && crashedLockMs(traits, ttlMs) === Infinity ? "blocked" : "safe",
    reason: crashedLockReason(traits, ttlMs),
  }),

  whyNotInMatrix(traits) {
    if (traits.kind === "lock" && crashedLockMs(traits, 0) === Infinity) {
      return "whether the killed node holds the lock is chance; kill-holder kills the holder";
    }
    return whyExpiryIsChance(traits);
  },

  // More buyers than the lock can serve: one of the node's purchases holds the lock at most times.
  matrixSale: (traits) => arrivals(traits, { rate: 120, durationMs: 1_500, holdMs: 20 }),

  async inject(injection) {
    const { node } = injection;
    await injection.untilDue();
    const index = await node.armStop({ point: "any-time", atMs: KILL_AFTER_MS, durationMs: null });
    const { evidence, fromNs, toNs } = await untilRestarted(injection, index);
    return { fromNs, toNs, proof: `${node.name} crashed: ${evidence}.`, killedNode: node.name };
  },

  whyUnproven({ ops }, { fromNs }) {
    const isSelling = ops.some(({ answeredNs, clock }) => Number(fromNs - clock.originNs) < (answeredNs ?? 0));
    return isSelling ? null : "no purchase was answered after the crash";
  },
};
