import { setTimeout as delay } from "node:timers/promises";
import type { StopOutcome } from "../node/node-stops";
import { elapsedMs, nowNs } from "../services/monotonic";
import { durationText } from "../services/number-text";
import { type FaultEvent, FaultMissed, type Injection, type StopReport } from "./fault";
import { holderText } from "./working-holder";

const POLL_MS = 50;
/** How long a killed node may take to start again after the load ended. A production build starts in about a second. */
const RESTART_LIMIT_MS = 25_000;

/** A node that was killed and that its supervisor started again. */
export interface KilledNode extends Pick<FaultEvent, "fromNs" | "toNs"> {
  /** Null if the node was not killed at a point of a holder. */
  readonly holder: string | null;
  /** "process 71.x was killed (SIGKILL), and process 93.y answered 1,204 ms later" */
  readonly evidence: string;
}

/**
 * Waits until the node reports that an earlier instance of its process was killed.
 * @param index of the armed kill among the node's stops
 * @throws FaultMissed if it was not killed, or if nothing started it again
 */
export async function untilRestarted({ node, closing }: Injection, index: number): Promise<KilledNode> {
  let endedNs: bigint | null = null;
  for (;;) {
    if (closing.aborted) endedNs ??= nowNs();
    const report = await (endedNs === null ? node.stops() : node.disarmStops()).catch(() => null);
    const killed = report && killedOf(report, index, node.name);
    if (killed) return killed;
    if (endedNs !== null && report) throw new FaultMissed(`${node.name} was not killed before the load ended`);
    if (endedNs !== null && elapsedMs(endedNs) > RESTART_LIMIT_MS) {
      throw new FaultMissed(
        `${node.name} did not answer for ${RESTART_LIMIT_MS / 1_000} s after the load ended; nothing started it again`,
      );
    }
    await delay(POLL_MS);
  }
}

/** @returns null if the node has not been killed */
function killedOf({ instance, outcomes }: StopReport, index: number, name: string): KilledNode | null {
  const outcome: StopOutcome | undefined = outcomes[index];
  if (outcome === undefined) throw new FaultMissed(`${name} has no record of the kill`);
  if (outcome.status === "failed") throw new FaultMissed(`${name} could not be killed: ${outcome.reason}`);
  if (outcome.status !== "killed") return null;
  if (outcome.instance === instance) throw new FaultMissed(`${name} survived its SIGKILL`);
  const [fromNs, toNs] = [BigInt(outcome.atNs), nowNs()];
  const downFor = durationText(elapsedMs(fromNs, toNs));
  return {
    fromNs,
    toNs,
    holder: outcome.buyerId === null ? null : holderText(outcome),
    evidence: `process ${outcome.instance} was killed (SIGKILL), and process ${instance} answered ${downFor} later`,
  };
}
