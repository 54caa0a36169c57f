import type { Operation } from "./operation";

export const PHASES = ["poolWait", "wait", "hold", "commit"] as const;
export type Phase = (typeof PHASES)[number];

/** A purchase's times on one clock, as the trace (bigint) or the history (number) has them. */
export interface PhaseTimes<T extends number | bigint> {
  readonly waitNs?: T | undefined;
  readonly grantedNs?: T | undefined;
  readonly readNs?: T | undefined;
  readonly writeNs?: T | undefined;
  readonly committedNs?: T | undefined;
  readonly releasedNs?: T | undefined;
  readonly answeredNs?: T | undefined;
}

/** A phase, from when to when. */
export type PhaseSpan<T extends number | bigint> = readonly [phase: Exclude<Phase, "poolWait">, fromNs: T, toNs: T];

/**
 * The phases a purchase went through. Wait ends at the grant, or at the read that led to the write where there is no
 * lock; hold ends where the write begins; commit is the write's round trip. A wait for a connection may lie in any of
 * them, and is told apart by `waitPoolNs` and the like: no moment of a purchase counts for two phases.
 */
export function phaseSpans<T extends number | bigint>(times: PhaseTimes<T>): readonly PhaseSpan<T>[] {
  const { waitNs, writeNs, committedNs, releasedNs, answeredNs } = times;
  const found: PhaseSpan<T>[] = [];
  const insideNs = times.grantedNs ?? times.readNs;
  const waitEndNs = insideNs ?? answeredNs;
  if (waitNs !== undefined && waitEndNs !== undefined) found.push(["wait", waitNs, waitEndNs]);
  const holdEndNs = writeNs ?? releasedNs;
  if (insideNs !== undefined && holdEndNs !== undefined && holdEndNs > insideNs) {
    found.push(["hold", insideNs, holdEndNs]);
  }
  if (writeNs !== undefined && committedNs !== undefined) found.push(["commit", writeNs, committedNs]);
  return found;
}

/** A recorded purchase's phases in milliseconds. Waits for connections count for `poolWait` alone, as far as it is known where they fell. */
export function phaseDurationsOf(op: Operation): readonly (readonly [Phase, number])[] {
  const durations: (readonly [Phase, number])[] = [];
  if (op.poolWaitUs !== undefined) durations.push(["poolWait", op.poolWaitUs / 1_000]);
  for (const [phase, fromNs, toNs] of phaseSpans(op)) {
    durations.push([phase, Math.max(0, (toNs - fromNs) / 1e6 - (op[`${phase}PoolUs`] ?? 0) / 1_000)]);
  }
  return durations;
}
