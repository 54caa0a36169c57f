import type { Operation } from "./operation";

export const PHASES = ["poolWait", "wait", "hold", "commit"] as const;
export type Phase = (typeof PHASES)[number];

/** A purchase's times on one clock: bigint in a trace, number in a history. */
export interface PhaseTimes<T extends number | bigint> {
  readonly waitNs?: T | undefined;
  readonly grantedNs?: T | undefined;
  readonly readNs?: T | undefined;
  readonly writeNs?: T | undefined;
  readonly committedNs?: T | undefined;
  readonly releasedNs?: T | undefined;
  readonly answeredNs?: T | undefined;
}

export type PhaseSpan<T extends number | bigint> = readonly [phase: Exclude<Phase, "poolWait">, fromNs: T, toNs: T];

/**
 * The phases of a purchase. The wait ends at the grant, or at the read if the strategy has no lock. The hold ends when
 * the write starts. The commit is the write's round trip. Each span may include time spent waiting for a pooled
 * connection.
 */
export function phaseSpans<T extends number | bigint>(times: PhaseTimes<T>): readonly PhaseSpan<T>[] {
  const { waitNs, writeNs, committedNs, releasedNs, answeredNs } = times;
  const found: PhaseSpan<T>[] = [];
  const enteredNs = times.grantedNs ?? times.readNs;
  const waitEndNs = enteredNs ?? answeredNs;
  if (waitNs !== undefined && waitEndNs !== undefined) found.push(["wait", waitNs, waitEndNs]);
  const holdEndNs = writeNs ?? releasedNs;
  if (enteredNs !== undefined && holdEndNs !== undefined && holdEndNs > enteredNs) {
    found.push(["hold", enteredNs, holdEndNs]);
  }
  if (writeNs !== undefined && committedNs !== undefined) found.push(["commit", writeNs, committedNs]);
  return found;
}

/**
 * Phase durations in milliseconds. Waiting for a pooled connection counts as `poolWait` only and is subtracted from the
 * other phases.
 */
export function phaseDurationsOf(op: Operation): readonly (readonly [Phase, number])[] {
  const durations: (readonly [Phase, number])[] = [];
  if (op.poolWaitUs !== undefined) durations.push(["poolWait", op.poolWaitUs / 1_000]);
  for (const [phase, fromNs, toNs] of phaseSpans(op)) {
    durations.push([phase, Math.max(0, (toNs - fromNs) / 1e6 - (op[`${phase}PoolUs`] ?? 0) / 1_000)]);
  }
  return durations;
}
