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

/** Enters, notes its name, holds for a while. */
function enter(entered: string[], name: string, overrides: Partial<LockRequest> = {}) {
  return mutex.runGuarded({ ...request, ...overrides }, async () => {
    entered.push(name);
    await clock.sleep(10);
  });
}

describe("local-mutex", () => {
  it("serves callers one at a time in the order they came", async () => {
    const entered: string[] = [];
    const names = Array.from({ length: 20 }, (_, index) => `caller ${index}`);
    let inside = 0;
    let most = 0;
    const calls = names.map((name) =>
      mutex.runGuarded(request, async () => {
        entered.push(name);
        inside += 1;
        most = Math.max(most, inside);
        await clock.sleep(10);
        inside -= 1;
      }),
    );
    await clock.settle(Promise.all(calls));
    assert.deepEqual(entered, names);
    assert.equal(most, 1);
    assert.equal(clock.pendingTimers, 0);
  });

  it("keeps the order when a waiter in the middle gives up", async () => {
    const entered: string[] = [];
    const caller = new AbortController();
    const first = enter(entered, "first");
    const second = enter(entered, "second", { signal: caller.signal });
    const third = enter(entered, "third");
    const refused = assert.rejects(second, (error) => isLockError(error) && error.code === "aborted");
    await clock.advance(5);
    caller.abort();
    await clock.settle(Promise.all([first, refused, third]));
    assert.deepEqual(entered, ["first", "third"]);
  });

  it("hands the lock on when the caller at the front runs out of time", async () => {
    const entered: string[] = [];
    const holder = enter(entered, "holder");
    const short = enter(entered, "short", { waitTimeoutMs: 4 });
    const long = enter(entered, "long");
    assert.deepEqual(await clock.settle(short), { status: "contended", waitedMs: 4, attempts: 1 });
    await clock.settle(Promise.all([holder, long]));
    assert.deepEqual(entered, ["holder", "long"]);
  });

  it("answers `contended` at once to a caller that may not wait", async () => {
    const entered: string[] = [];
    const holder = enter(entered, "holder");
    const outcome = await enter(entered, "visitor", { waitTimeoutMs: 0 });
    assert.deepEqual(outcome, { status: "contended", waitedMs: 0, attempts: 1 });
    await clock.settle(holder);
  });

  it("lets different resources in side by side", async () => {
    const entered: string[] = [];
    const calls = [enter(entered, "one"), enter(entered, "two", { resource: "product:2" })];
    await clock.advance(1);
    assert.deepEqual(entered, ["one", "two"]);
    await clock.settle(Promise.all(calls));
  });

  it("does not keep out a second instance, as it would not a second process", async () => {
    const entered: string[] = [];
    const other = createLocalMutex({ clock, random: seededRandom(2) });
    const calls = [enter(entered, "here"), other.runGuarded(request, async () => entered.push("there"))];
    await clock.advance(1);
    assert.deepEqual(entered, ["here", "there"]);
    await clock.settle(Promise.all(calls));
  });
});

describe("none", () => {
  it("lets everyone in at once", async () => {
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
