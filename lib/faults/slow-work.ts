import { once } from "node:events";
import { elapsedMs } from "../services/monotonic";
import { type Fault, FaultMissed } from "./fault";
import { orphanedLockMs } from "./orphaned-lock";
import { pauseHolder } from "./pause-holder";

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

  expectedEffectOf({ traits, ttlMs }, durationMs) {
    return traits.ownerless && durationMs > orphanedLockMs(traits, ttlMs) ? "unsafe" : "safe";
  },

  async inject({ node, atMs, durationMs, ttlMs, closing }) {
    const index = await node.armStop({ point: "in-work", atMs, durationMs });
    if (!closing.aborted) await once(closing, "abort");
    const outcome = (await node.disarmStops()).outcomes[index];
    if (outcome?.status === "failed") throw new FaultMissed(`${node.name} could not delay a holder: ${outcome.reason}`);
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
    return { fromNs, toNs, proof };
  },

  whyUnproven: (history, event) => pauseHolder.whyUnproven?.(history, event) ?? null,
};
