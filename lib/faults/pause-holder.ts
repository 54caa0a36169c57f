import { once } from "node:events";
import { LONGEST_PAUSE_MS, type PauseOutcome } from "../node/holder-pauses";
import { elapsedMs } from "../services/monotonic";
import { deadHoldEndsAfterMs } from "./dead-hold";
import { type Fault, type FaultEvent, FaultMissed, type Injection } from "./fault";

/** How much longer than the hold of a dead holder, where nobody says: time for others to sell in. */
const MARGIN_MS = 1_000;
const PAUSE_PER_TTL = 2.5;
/** A server that keeps the hold for as long as it takes only makes everybody wait. */
const LONGEST_FOR_NOTHING_MS = 5_000;
/** Timers are not exact, and a wake-up on a busy machine is late, not early. */
const PROVEN_SHARE = 0.9;

/**
 * The node that holds stands still past its lease, after its last look at the lease and before its write. Without a fence
 * the write goes through beside that of the next holder.
 */
export const pauseHolder: Fault = {
  id: "pause-holder",
  does: "Stops the node that holds (SIGSTOP) after its last check and before its write, longer than its lease lasts.",
  proof: "how long the node stood still, by the host's monotonic clock, and in whose hold",

  defaultDurationMs({ traits, ttlMs }) {
    const takenMs = deadHoldEndsAfterMs(traits, ttlMs);
    if (takenMs === Infinity) return Math.round(Math.min(PAUSE_PER_TTL * ttlMs, LONGEST_FOR_NOTHING_MS));
    return Math.round(Math.min(LONGEST_PAUSE_MS, Math.max(PAUSE_PER_TTL * ttlMs, takenMs + MARGIN_MS)));
  },

  reasonAgainst({ traits, nodes }) {
    if (traits.kind === "atomic")
      return "its change is one operation: nobody holds anything between a check and a write";
    if (traits.survives.holderPause === "not-applicable") return "nobody holds anything";
    if (nodes < 2) return "with one store node nobody is left to come in while it stands still";
    return null;
  },

  expectedEffectOf({ traits, ttlMs, fencing }, durationMs) {
    const isFencedOnly = traits.fencingSource !== null && traits.survives.holderPause === "survives";
    const cannotTell = traits.survives.holderPause === "breaks" || (isFencedOnly && !fencing);
    return cannotTell && durationMs > deadHoldEndsAfterMs(traits, ttlMs) ? "breaks" : "holds";
  },

  async inject(injection) {
    const { node, atMs, durationMs, closing } = injection;
    const place = await node.armPause({ atMs, durationMs });
    if (!closing.aborted) await once(closing, "abort");
    return eventOf((await node.disarmPauses())[place], injection);
  },
};

function eventOf(outcome: PauseOutcome | undefined, { node, atMs, durationMs }: Injection): FaultEvent {
  if (outcome === undefined) throw new FaultMissed(`${node.name} has forgotten it`);
  if (outcome.status === "failed") throw new FaultMissed(`${node.name} could not be stopped: ${outcome.reason}`);
  if (outcome.status !== "paused") {
    throw new FaultMissed(`no buyer came to a write at ${node.name} later than ${atMs} ms after its first`);
  }
  const { holderId, buyerId } = outcome;
  const [fromNs, toNs] = [BigInt(outcome.fromNs), BigInt(outcome.toNs)];
  const stoodStillMs = elapsedMs(fromNs, toNs);
  if (stoodStillMs < durationMs * PROVEN_SHARE) {
    throw new FaultMissed(`${node.name} stood still for ${Math.round(stoodStillMs)} ms, not for ${durationMs}`);
  }
  const hold = holderId === null ? `the hold of ${buyerId}` : `the hold of ${buyerId} (${holderId})`;
  const proof = `${node.name} stood still for ${Math.round(stoodStillMs)} ms in ${hold}, after its last check and before its write.`;
  return { fromNs, toNs, proof };
}
