import type { ClientReport, RunDocument } from "@/lib/runs/document";
import { durationText, formatCount, NO_VALUE, plural } from "./format";

/** Whether a run put its strategy to the test at all: a lock that nobody wants keeps every promise. */
export interface Certificate {
  readonly isCertified: boolean;
  /** The certificate in words, most telling first. */
  readonly sentences: readonly string[];
  readonly facts: readonly (readonly [name: string, value: string])[];
}

const UNKNOWN = "not known";

type Measured = Pick<RunDocument, "contention" | "phasesMs" | "counts" | "config" | "client" | "agreement" | "status">;

export function certificateOf(document: Measured): Certificate {
  const { contention, phasesMs } = document;
  const { peakInFlight, peakWaiters, arrivalSkewMs, droppedIterations } = contention;
  return {
    isCertified: contention.certified,
    sentences: contention.certified ? certified(document) : notCertified(document),
    facts: [
      ["Peak in flight", formatCount(peakInFlight)],
      ["Peak waiting for their turn", formatCount(peakWaiters)],
      ["Buyers started within", arrivalSkewMs === null ? NO_VALUE : durationText(arrivalSkewMs)],
      ["Wait for a connection, p99", durationText(phasesMs.poolWait.p99)],
      ["Purchases never sent", formatCount(droppedIterations)],
      ...(document.client === null ? [] : generatorFacts(document.client)),
    ],
  };
}

function generatorFacts(client: ClientReport): Certificate["facts"] {
  const { generatorLagP99Ms: lagMs, generatorCpuPercent: percent } = client;
  return [
    ["Load generator late, p99", lagMs === undefined ? UNKNOWN : durationText(lagMs)],
    ["Load generator's processor", percent === undefined ? UNKNOWN : `${formatCount(percent)} % of a core`],
  ];
}

function certified({ contention, counts, phasesMs, agreement }: Measured): string[] {
  const { peakInFlight, peakWaiters, droppedIterations } = contention;
  const share = counts.requests > 0 ? Math.round((100 * peakInFlight) / counts.requests) : 0;
  const said = [
    `Up to ${formatCount(peakInFlight)} of ${plural(counts.requests, "purchase")} (${share} %) were in flight at once${peakWaiters > 0 ? `, ${formatCount(peakWaiters)} of them waiting for their turn` : ""}.`,
  ];
  const { poolWait, wait } = phasesMs;
  // Whoever waits for a connection is not yet at the lock: the pool, not the lock, made the queue.
  if ((poolWait.p50 ?? 0) > (wait.p50 ?? 0) && (poolWait.p50 ?? 0) >= 1) {
    const turn = wait.p50 === null ? "" : `, ${durationText(wait.p50)} for the turn itself`;
    said.push(
      `The longer queue was for the database's connections: ${durationText(poolWait.p50)} in the median${turn}.`,
    );
  }
  if (agreement?.isStarved)
    said.push("The load generator was starved: what arrived is not the rush that was asked for.");
  if (droppedIterations !== null && droppedIterations > 0) {
    said.push(
      `${plural(droppedIterations, "purchase")} never left the load generator, so the rush was smaller than asked.`,
    );
  }
  return said;
}

function notCertified({ counts, contention }: Measured): string[] {
  if (counts.requests === 0) return ["No purchase reached a store node."];
  return [
    `At most ${plural(contention.peakInFlight, "purchase")} of ${formatCount(counts.requests)} in flight at once: this was no contention test, whatever came out of it.`,
  ];
}
