import { once } from "node:events";
import { elapsedMs } from "../services/monotonic";
import { settingText } from "../services/number-text";
import { type Fault, FaultMissed } from "./fault";
import { crowd, RELEASED_WAIT_MS } from "./matrix-sale";
import { isExtendedByWaiters, orphanedLockMs } from "./orphaned-lock";
import { EXTENDED_LEASE, pauseHolder } from "./pause-holder";

/**
 * Makes one holder's work last longer than its lease, which is not renewed. A holder that checks its lease fails before its
 * write. An ownerless holder writes, and its plain DEL then deletes the lock of the next holder, which lets a third one in.
 */
export const slowWork: Fault = {
  id: "slow-work",
  does: "Makes the work of one lock holder last longer than its lease, while its node renews no lease of the lock.",
  proof:
    "how long the work took, by the host's monotonic clock, and which buyer held the lock; the lease was shorter, and another purchase waited for the lock",

  defaultDurationMs: (run) => pauseHolder.defaultDurationMs(run),

  whyNotApplicable(run) {
    if (run.traits.kind === "atomic")
      return "it changes the stock in one operation, so no work lies between a check and a write";
    return pauseHolder.whyNotApplicable(run);
  },

  expectationOf({ traits, ttlMs }, durationMs) {
    if (traits.family === "sql") {
      return { effect: "safe", reason: "PostgreSQL keeps the lock while its connection is open." };
    }
    if (!traits.ownerless) {
      return {
        effect: "safe",
        reason: "The slow holder checks its lease before its write, and finds that it has ended.",
      };
    }
    if (isExtendedByWaiters(traits) && durationMs > ttlMs) return EXTENDED_LEASE;
    const takenMs = orphanedLockMs(traits, ttlMs);
    if (takenMs === Infinity) {
      const why = traits.expiryClock === "none" ? "The lock has no expiry" : "Each poll of a waiter extends the lock";
      return { effect: "safe", reason: `${why}, so no other buyer gets it.` };
    }
    if (durationMs <= takenMs) {
      return {
        effect: "safe",
        reason: `The lock stays taken for up to ${settingText(takenMs)}, longer than the work.`,
      };
    }
    return {
      effect: "unsafe",
      reason: "The slow holder does not check its lease: it writes, and its DEL deletes the next holder's lock.",
    };
  },

  // Long enough for the next holder to be at work when the slow one deletes its lock.
  matrixSale: (traits) => crowd(traits, { holdMs: 60, vus: 50, waitTimeoutMs: RELEASED_WAIT_MS }),

  async inject({ node, atMs, durationMs, ttlMs, closing }) {
    const index = await node.armStop({ point: "in-work", atMs, durationMs, renewsLease: false });
    if (!closing.aborted) await once(closing, "abort");
    const outcome = (await node.disarmStops()).outcomes[index];
    if (outcome?.status === "failed") throw new FaultMissed(`${node.name} could not delay a holder: ${outcome.reason}`);
    if (outcome?.status === "delaying") throw new FaultMissed("the work was not over when the load ended");
    if (outcome?.status !== "delayed") {
      throw new FaultMissed(`no buyer worked on ${node.name} later than ${atMs} ms after its first purchase`);
    }
    const [fromNs, toNs] = [BigInt(outcome.fromNs), BigInt(outcome.toNs)];
    const workedMs = Math.round(elapsedMs(fromNs, toNs));
    if (workedMs <= ttlMs) {
      throw new FaultMissed(
        `the work took ${workedMs} ms longer, and the lease lasts ${ttlMs} ms; choose a longer fault`,
      );
    }
    const holder = outcome.holderId === null ? outcome.buyerId : `${outcome.buyerId} (${outcome.holderId})`;
    const proof = `${holder} worked ${workedMs} ms longer on ${node.name} while it held the lock; the lease is ${ttlMs} ms and was not renewed.`;
    return { fromNs, toNs, proof, slowedNode: node.name };
  },

  whyUnproven: (...seen) => pauseHolder.whyUnproven?.(...seen) ?? null,
};
