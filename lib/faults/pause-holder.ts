import { once } from "node:events";
import type { StrategyTraits } from "../locks/types";
import { LONGEST_PAUSE_MS, type StopOutcome } from "../node/node-stops";
import { elapsedMs } from "../services/monotonic";
import { durationText, settingText } from "../services/number-text";
import { type Expectation, type Fault, type FaultEvent, FaultMissed, type Injection } from "./fault";
import { crowd, RELEASED_WAIT_MS } from "./matrix-sale";
import { isExtendedByWaiters, orphanedLockMs } from "./orphaned-lock";
import { waitedBetween } from "./waited-for-lock";
import { holderText } from "./working-holder";

/** Time for other buyers to buy after the lock has expired. A busy ZooKeeper ends a session seconds late. */
const MARGIN_MS = 1_000;
const SESSION_MARGIN_MS = 3_000;
const PAUSE_PER_TTL = 2.5;
/** A longer pause of a lock that never expires would only make all buyers wait longer. */
const MAX_PAUSE_WITHOUT_EXPIRY_MS = 5_000;
/** Share of the requested duration that proves the pause. The timer that resumes the node is not exact. */
const PROVEN_SHARE = 0.9;

/** Shorter than the time after which a Redis client gives up its connection: a lost release would leave the lock taken. */
const MATRIX_PAUSE_WITHOUT_EXPIRY_MS = 1_500;

/** Polls of waiters extend the lock, but the holder was granted only its lease. */
export const EXTENDED_LEASE: Expectation = {
  effect: "unsafe",
  reason: "The holder writes after the lease that it was granted. Only the polls of waiters kept other buyers out.",
};

/**
 * Stops the node that holds the lock for longer than its lease, after the last lease check and before the write. Without
 * a fencing token the write is accepted although the next holder has the lock.
 */
export const pauseHolder: Fault = {
  id: "pause-holder",
  stopsNode: true,
  does: "Stops the node that holds the lock (SIGSTOP) after its last lease check and before its write, for longer than its lease.",
  proof:
    "how long the node was stopped, by the host's monotonic clock, and which buyer held the lock; the lease ended during the pause, and another purchase waited for the lock",

  defaultDurationMs({ traits, ttlMs }) {
    const takenMs = isExtendedByWaiters(traits) ? ttlMs : orphanedLockMs(traits, ttlMs);
    if (takenMs === Infinity) return Math.round(Math.min(PAUSE_PER_TTL * ttlMs, MAX_PAUSE_WITHOUT_EXPIRY_MS));
    const marginMs = traits.expiryClock === "session" ? SESSION_MARGIN_MS : MARGIN_MS;
    return Math.round(Math.min(LONGEST_PAUSE_MS, Math.max(PAUSE_PER_TTL * ttlMs, takenMs + marginMs)));
  },

  whyNotApplicable({ traits, nodes }) {
    if (traits.kind === "atomic") {
      return "it changes the stock in one operation, so no holder can pause between a check and a write";
    }
    if (traits.survives.holderPause === "not-applicable") return "it has no lock to hold";
    if (nodes < 2) return "it needs a second store node that sells while one store node is stopped";
    return null;
  },

  expectationOf({ traits, ttlMs, fencing }, durationMs) {
    if (isExtendedByWaiters(traits) && durationMs > ttlMs) return EXTENDED_LEASE;
    const takenMs = orphanedLockMs(traits, ttlMs);
    if (takenMs === Infinity) return { effect: "safe", reason: `${whyNeverFree(traits)}, so no other buyer gets it.` };
    if (durationMs <= takenMs) {
      return {
        effect: "safe",
        reason: `The lock stays taken for up to ${settingText(takenMs)}, longer than the pause.`,
      };
    }
    const isFenced = traits.fencingSource !== null && traits.survives.holderPause === "survives";
    if (isFenced && fencing) {
      return {
        effect: "safe",
        reason: "The late write of the paused holder is rejected, because its fencing token is too old.",
      };
    }
    const acceptsLateWrites = isFenced || traits.survives.holderPause === "breaks";
    if (!acceptsLateWrites)
      return { effect: "safe", reason: "The paused holder finds that it lost the lock, and does not write." };
    const why = isFenced ? "fencing tokens are not checked" : "no fencing token rejects it";
    return {
      effect: "unsafe",
      reason: `The lock expires during the pause, and the late write of the paused holder is accepted: ${why}.`,
    };
  },

  matrixSale: (traits) =>
    crowd(traits, {
      waitTimeoutMs: RELEASED_WAIT_MS,
      ...(orphanedLockMs(traits, 0) === Infinity ? { faultMs: MATRIX_PAUSE_WITHOUT_EXPIRY_MS } : {}),
    }),

  async inject(injection) {
    const { node, atMs, durationMs, closing } = injection;
    const index = await node.armStop({ point: "before-write", atMs, durationMs });
    if (!closing.aborted) await once(closing, "abort");
    return eventOf((await node.disarmStops()).outcomes[index], injection);
  },

  whyUnproven({ ops }, { fromNs, toNs }) {
    // The paused holder's own wait ended before the pause.
    if (ops.some((op) => waitedBetween(op, fromNs, toNs))) return null;
    return "no other purchase waited for the lock during the fault";
  },
};

function whyNeverFree({ family, expiryClock }: StrategyTraits): string {
  if (family === "sql")
    return "PostgreSQL keeps the lock while its connection is open, and a stopped process keeps it open";
  if (expiryClock === "none") return "The lock has no expiry";
  return "Each poll of a waiter extends the lock";
}

function eventOf(outcome: StopOutcome | undefined, injection: Injection): FaultEvent {
  const { node, atMs, durationMs, traits, ttlMs } = injection;
  if (outcome === undefined) throw new FaultMissed(`${node.name} has no record of the pause`);
  if (outcome.status === "failed") throw new FaultMissed(`${node.name} could not be stopped: ${outcome.reason}`);
  if (outcome.status !== "paused") {
    throw new FaultMissed(
      `no buyer reached a write on ${node.name} later than ${settingText(atMs)} after its first purchase`,
    );
  }
  const [fromNs, toNs] = [BigInt(outcome.fromNs), BigInt(outcome.toNs)];
  const stoppedMs = elapsedMs(fromNs, toNs);
  if (stoppedMs < durationMs * PROVEN_SHARE) {
    throw new FaultMissed(
      `${node.name} was stopped for ${durationText(stoppedMs)} instead of ${settingText(durationMs)}`,
    );
  }
  // The holder may have renewed its lease right before the pause.
  const takenMs = orphanedLockMs(traits, ttlMs);
  if (takenMs !== Infinity && stoppedMs <= takenMs) {
    throw new FaultMissed(
      `${node.name} was stopped for ${durationText(stoppedMs)}, and a lock whose holder stops can stay taken for ${durationText(takenMs)}; choose a longer pause`,
    );
  }
  const proof = `${node.name} was stopped for ${durationText(stoppedMs)} while ${holderText(outcome)} held the lock, after the last lease check and before the write.`;
  return { fromNs, toNs, proof, stoppedNode: node.name };
}
