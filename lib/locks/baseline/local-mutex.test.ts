import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { isLockError } from "../errors";
import { FakeClock } from "../testing/fake-clock";
import { seededRandom } from "../testing/seeded-random";
import type { LockRequest, LockStrategy } from "../types";
import { createLocalMutex } from "./local-mutex";
import { createNone } from "./none";

const request: LockRequest = { resource: "product:1", waitTimeoutMs: 1_000, ttlMs: 300 };

let clock: FakeClock;
let mutex: LockStrategy;

beforeEach(() => {
  clock = new FakeClock();
  mutex = createLocalMutex({ clock, random: seededRandom(1) });
});

/** Acquires the lock, records its name and holds it for 10 ms. */
function enter(entered: string[], name: string, overrides: Partial<LockRequest> = {}) {
  return mutex.runGuarded({ ...request, ...overrides }, async () => {
    entered.push(name);
    await clock.sleep(10);
  });
}

describe("local-mutex", () => {
  it("serves callers one at a time in arrival order", async () => {
    const entered: string[] = [];
    const names = Array.from({ length: 20 }, (_, index) => `caller ${index}`);
    let inside = 0;
    let maxInside = 0;
    const calls = names.map((name) =>
      mutex.runGuarded(request, async () => {
        entered.push(name);
        inside += 1;
        maxInside = Math.max(maxInside, inside);
        await clock.sleep(10);
        inside -= 1;
      }),
    );
    await clock.settle(Promise.all(calls));
    assert.deepEqual(entered, names);
    assert.equal(maxInside, 1);
    assert.equal(clock.pendingTimers, 0);
  });

  it("excludes another mutex that shares its queues, and keeps the order of both", async () => {
    const localQueues = new Map();
    const parts = { clock, random: seededRandom(1), localQueues };
    const [one, other] = [createLocalMutex(parts), createLocalMutex(parts)];
    const entered: number[] = [];
    let inside = 0;
    let maxInside = 0;
    const calls = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? one : other).runGuarded(request, async () => {
        entered.push(index);
        inside += 1;
        maxInside = Math.max(maxInside, inside);
        await clock.sleep(10);
        inside -= 1;
      }),
    );
    await clock.settle(Promise.all(calls));
    assert.deepEqual([maxInside, entered], [1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  });

  it("keeps the order when a waiter in the middle aborts", async () => {
    const entered: string[] = [];
    const caller = new AbortController();
    const first = enter(entered, "first");
    const second = enter(entered, "second", { signal: caller.signal });
    const third = enter(entered, "third");
    const rejected = assert.rejects(second, (error) => isLockError(error) && error.code === "aborted");
    await clock.advance(5);
    caller.abort();
    await clock.settle(Promise.all([first, rejected, third]));
    assert.deepEqual(entered, ["first", "third"]);
  });

  it("grants the lock to the next waiter when the first one times out", async () => {
    const entered: string[] = [];
    const holder = enter(entered, "holder");
    const short = enter(entered, "short", { waitTimeoutMs: 4 });
    const long = enter(entered, "long");
    assert.deepEqual(await clock.settle(short), { status: "contended", waitedMs: 4, attempts: 1 });
    await clock.settle(Promise.all([holder, long]));
    assert.deepEqual(entered, ["holder", "long"]);
  });

  it("returns `contended` at once if the wait timeout is 0", async () => {
    const entered: string[] = [];
    const holder = enter(entered, "holder");
    const outcome = await enter(entered, "visitor", { waitTimeoutMs: 0 });
    assert.deepEqual(outcome, { status: "contended", waitedMs: 0, attempts: 1 });
    await clock.settle(holder);
  });

  it("grants different resources concurrently", async () => {
    const entered: string[] = [];
    const calls = [enter(entered, "one"), enter(entered, "two", { resource: "product:2" })];
    await clock.advance(1);
    assert.deepEqual(entered, ["one", "two"]);
    await clock.settle(Promise.all(calls));
  });

  it("does not exclude a second instance, which stands for a second process", async () => {
    const entered: string[] = [];
    const other = createLocalMutex({ clock, random: seededRandom(2) });
    const calls = [enter(entered, "here"), other.runGuarded(request, async () => entered.push("there"))];
    await clock.advance(1);
    assert.deepEqual(entered, ["here", "there"]);
    await clock.settle(Promise.all(calls));
  });
});

describe("none", () => {
  it("grants every caller at once", async () => {
    const none = createNone({ clock, random: seededRandom(1) });
    let inside = 0;
    const calls = Array.from({ length: 5 }, () =>
      none.runGuarded(request, async () => {
        inside += 1;
        await clock.sleep(10);
      }),
    );
    await clock.advance(1);
    assert.equal(inside, 5);
    const [outcome] = await clock.settle(Promise.all(calls));
    assert.ok(outcome?.status === "completed" && outcome.lease === "none");
  });
});
