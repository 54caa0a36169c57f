import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { isSafe, isSafeAlone, type LockCase } from "../case";
import type { LockUnderTest } from "../strategy-under-test";

/** What each of the three processes does. */
const RACE = { ttlMs: 5_000, waitTimeoutMs: 20_000, callers: 4, holdsEach: 8, holdMs: 3 };

interface ObservedHold {
  readonly holderId: string;
  readonly fromNs: bigint;
  readonly toNs: bigint;
  readonly fencingToken: bigint | null;
}

/** Three processes contend for one resource. @returns their holds in the order of their start */
export function race(subject: LockUnderTest): Promise<readonly ObservedHold[]> {
  return subject.once("race", async () => {
    const workers = await subject.workers();
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

/** Holds that began before the one before them had ended. */
const overlaps = (holds: readonly ObservedHold[]) =>
  holds.filter((hold, index) => index > 0 && hold.fromNs < (holds[index - 1]?.toNs ?? 0n)).length;

export const exclusionOverProcesses: LockCase = {
  name: (traits) =>
    isSafe(traits)
      ? "lets one in at a time while three processes contend"
      : "lets processes in side by side: the flaw it is here to show",
  async run(subject) {
    const holds = await race(subject);
    if (!isSafe(subject.traits)) return assert.ok(overlaps(holds) > 0, "nobody met anybody");
    assert.equal(holds.length, 3 * RACE.callers * RACE.holdsEach, "somebody was never served");
    assert.equal(overlaps(holds), 0, "two were in at once");
    assert.equal(new Set(holds.map(({ holderId }) => holderId)).size, holds.length, "a holder's name came twice");
  },
};

export const exclusionInProcess: LockCase = {
  name: (traits) =>
    isSafeAlone(traits)
      ? "lets one in at a time among the callers of one process"
      : "lets the callers of one process in side by side: the flaw it is here to show",
  async run({ lock, clients, traits }) {
    const request = { resource: `test:${randomUUID()}`, waitTimeoutMs: 20_000, ttlMs: 5_000 };
    let inside = 0;
    let most = 0;
    const section = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await clients.clock.sleep(2);
      inside -= 1;
    };
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => lock.runGuarded(request, section)));
    assert.ok(
      outcomes.every(({ status }) => status === "completed"),
      "somebody was never served",
    );
    if (isSafeAlone(traits)) assert.equal(most, 1);
    else assert.ok(most > 1, "nobody met anybody");
  },
};
