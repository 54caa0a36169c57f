import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { LockProcess, type LockProcessOrder, type ProcessHold } from "./lock-process";
import { waitUntil } from "./wait-until";

/** What each of the three processes of a race does. */
export const RACE = { ttlMs: 5_000, waitTimeoutMs: 20_000, callers: 4, holdsEach: 10, holdMs: 3 };

/** Three processes contend; @returns their holds in the order of their start */
export async function race(strategyId: string): Promise<ProcessHold[]> {
  const resource = `race:${randomUUID()}`;
  const full: LockProcessOrder = { ...RACE, strategyId, resource };
  await using one = new LockProcess(full);
  await using two = new LockProcess(full);
  await using three = new LockProcess(full);
  const all = [one, two, three];
  for (const stage of ["ready", "done"] as const) {
    await waitUntil(() => all.every((one) => one.has(stage) || one.has("failed")), { what: stage, withinMs: 40_000 });
    const failures = all.flatMap(({ messages }) => messages.filter(({ type }) => type === "failed"));
    assert.deepEqual(failures, []);
    if (stage === "ready") for (const one of all) one.go();
  }
  return all.flatMap((one) => one.holds()).toSorted((left, right) => Number(left.fromNs - right.fromNs));
}

/** Holds that began before the one before them had ended. */
export function overlaps(holds: readonly ProcessHold[]): number {
  return holds.filter((hold, index) => index > 0 && hold.fromNs < (holds[index - 1]?.toNs ?? 0n)).length;
}
