import type { Fault } from "./fault";
import { untilRestarted } from "./killed-node";
import { killedHolder } from "./matrix-sale";
import { crashedLockMs, crashedLockReason } from "./orphaned-lock";
import { waitedBetween } from "./waited-for-lock";

/**
 * Kills the node that holds the lock, before its write. The holder never releases: its lock ends with its lease, its session
 * or its connection, or not at all.
 */
export const killHolder: Fault = {
  id: "kill-holder",
  stopsNode: true,
  does: "Kills the node that holds the lock (SIGKILL) before its write. The lab starts the node again.",
  proof:
    "which buyer held the lock, as the node recorded immediately before its SIGKILL; another process of the node answers; another purchase waited for the lock",

  defaultDurationMs: () => null,

  whyNotApplicable({ traits, nodes }) {
    if (traits.kind === "atomic") return "it changes the stock in one operation, so there is no holder to kill";
    if (traits.survives.holderCrash === "not-applicable") return "it has no lock to hold";
    if (nodes < 2) return "it needs a second store node that sells while one store node is down";
    return null;
  },

  expectationOf: ({ traits, ttlMs }) => ({
    effect: crashedLockMs(traits, ttlMs) === Infinity ? "blocked" : "safe",
    reason: crashedLockReason(traits, ttlMs),
  }),

  matrixSale: killedHolder,

  async inject(injection) {
    const { node, atMs } = injection;
    const index = await node.armStop({ point: "before-write", atMs, durationMs: null });
    const { holder, evidence, fromNs, toNs } = await untilRestarted(injection, index);
    const proof = `${node.name} was killed while ${holder} held the lock, before the write: ${evidence}.`;
    return { fromNs, toNs, proof, killedNode: node.name };
  },

  whyUnproven({ ops }, { fromNs, toNs }) {
    if (ops.some((op) => waitedBetween(op, fromNs, toNs))) return null;
    return "no other purchase waited for the lock after the kill";
  },
};
