import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { isSafe, isSafeAlone, type LockCase } from "../case";
import type { LockUnderTest } from "../strategy-under-test";

/** The load of each of the three processes. */
const RACE = { ttlMs: 5_000, waitTimeoutMs: 20_000, callers: 4, holdsEach: 8, holdMs: 3 };

interface ObservedHold {
  readonly holderId: string;
  readonly fromNs: bigint;
  readonly toNs: bigint;
  readonly fencingToken: bigint | null;
}

/** Three processes contend for one resource. @returns their holds, ordered by start */
export function race(tested: LockUnderTest): Promise<readonly ObservedHold[]> {
  return tested.once("race", async () => {
    const workers = await tested.workers();
    const resource = `race:${randomUUID()}`;
    for (const worker of workers) worker.send({ kind: "hold", resource, ...RACE });
    await Promise.all(workers.map((worker) => worker.until("done")));
    const holds = workers.flatMap(({ messages }) =>
      messages.flatMap((message) => {
        if (message.type !== "hold") return [];
        const { holderId, fromNs, toNs, fencingToken } = message;
        const token = fencingToken === null ? null : BigInt(fencingToken);
        return [{ holderId, fromNs: BigInt(fromNs), toNs: BigInt(toNs), fencingToken: token }];
      }),
    );
    return holds.toSorted((left, right) => (left.fromNs < right.fromNs ? -1 : 1));
  });
}

/** Number of holds that began before the previous one ended. */
const overlaps = (holds: readonly ObservedHold[]) =>
  holds.filter((hold, index) => index > 0 && hold.fromNs < (holds[index - 1]?.toNs ?? 0n)).length;

export const exclusionOverProcesses: LockCase = {
  name: (traits) =>
    isSafe(traits)
      ? "grants one holder at a time while three processes contend"
      : "grants several processes at once: the flaw it demonstrates",
  async run(tested) {
    const holds = await race(tested);
    if (!isSafe(tested.traits)) return assert.ok(overlaps(holds) > 0, "expected overlapping holds, found none");
    assert.equal(holds.length, 3 * RACE.callers * RACE.holdsEach, "a caller never got the lock");
    assert.equal(overlaps(holds), 0, "expected no overlapping holds");
    assert.equal(new Set(holds.map(({ holderId }) => holderId)).size, holds.length, "a holder id was used twice");
  },
};

export const exclusionInProcess: LockCase = {
  name: (traits) =>
    isSafeAlone(traits)
      ? "grants one holder at a time to the callers of one process"
      : "grants several callers of one process at once: the flaw it demonstrates",
  async run({ lock, clients, traits }) {
    const request = { resource: `test:${randomUUID()}`, waitTimeoutMs: 20_000, ttlMs: 5_000 };
    let inside = 0;
    let maxInside = 0;
    const section = async () => {
      inside += 1;
      maxInside = Math.max(maxInside, inside);
      await clients.clock.sleep(2);
      inside -= 1;
    };
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => lock.runGuarded(request, section)));
    assert.ok(
      outcomes.every(({ status }) => status === "completed"),
      "a caller never got the lock",
    );
    if (isSafeAlone(traits)) assert.equal(maxInside, 1, `expected 1 holder at a time, found ${maxInside}`);
    else assert.ok(maxInside > 1, "expected overlapping holds, found none");
  },
};
