import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { HandleContext, LockHandle } from "./lease-backend";
import { code, occupy, type RunnerBench, request, resource, settlingInTurn, setUpBench } from "./testing/runner-bench";

let clock: RunnerBench["clock"];
let server: RunnerBench["server"];
let runner: RunnerBench["runner"];

beforeEach(() => {
  ({ clock, server, runner } = setUpBench());
});

describe("a call", () => {
  it("runs the section under the lock, releases it and returns the timings", async () => {
    const outcome = await clock.settle(
      runner().runGuarded(request, async (grant) => {
        assert.equal(server.holderOf(resource), grant.holderId);
        await clock.sleep(8);
        return "done";
      }),
    );
    assert.deepEqual(outcome, {
      status: "completed",
      value: "done",
      lease: "held",
      timings: { waitMs: 2, poolWaitMs: 0, holdMs: 8, releaseMs: 2, attempts: 1 },
    });
    assert.equal(server.holderOf(resource), null);
    assert.equal(clock.pendingTimers, 0);
  });

  it("tries once if the wait timeout is 0", async () => {
    const { free } = occupy(runner());
    await clock.advance(5);
    const outcome = await clock.settle(runner().runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered"));
    assert.deepEqual(outcome, { status: "contended", waitedMs: 2, attempts: 1 });
    free();
  });

  it("acquires a free lock if the wait timeout is 0", async () => {
    const outcome = await clock.settle(runner().runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered"));
    assert.equal(outcome.status, "completed");
  });

  it("enters soon after the holder releases", async () => {
    const lock = runner();
    const { free } = occupy(lock);
    await clock.advance(100);
    const waiting = lock.runGuarded(request, async () => clock.nowMs());
    await clock.advance(200);
    free();
    const outcome = await clock.settle(waiting);
    assert.ok(outcome.status === "completed" && outcome.value < 350, JSON.stringify(outcome));
  });

  it("returns `contended` when its wait times out, and leaves no waiter and no timer", async () => {
    const lock = runner();
    const { free, outcome } = occupy(lock);
    await clock.advance(10);
    const contended = await clock.settle(lock.runGuarded(request, async () => "entered"));
    assert.ok(contended.status === "contended" && contended.attempts > 5);
    assert.ok(contended.waitedMs >= 1_000 && contended.waitedMs < 1_010, `${contended.waitedMs} ms`);
    free();
    await clock.settle(outcome);
    assert.equal(clock.pendingTimers, 0);
  });

  it("rethrows an error of the section after the release", async () => {
    const failure = new Error("out of paper");
    const call = runner().runGuarded(request, () => Promise.reject(failure));
    await assert.rejects(clock.settle(call), failure);
    assert.equal(server.callsOf("release").length, 1);
    assert.equal(server.holderOf(resource), null);
  });

  it("rethrows a backend error that is not an outage unchanged", async () => {
    const bug = new TypeError("undefined is not a function");
    const backend = server.backend({}, () => ({ tryAcquire: () => Promise.reject(bug) }));
    await assert.rejects(clock.settle(runner({}, backend).runGuarded(request, async () => 1)), bug);
  });

  for (const [what, wrong] of [
    ["a resource with a slash", { resource: "a/b" }],
    ["a resource that is a path", { resource: ".." }],
    ["no resource", { resource: "" }],
    ["a negative wait", { waitTimeoutMs: -1 }],
    ["a TTL of 0", { ttlMs: 0 }],
    ["half a millisecond", { ttlMs: 100.5 }],
  ] as const) {
    it(`rejects ${what} before it sends a request`, async () => {
      await assert.rejects(
        runner().runGuarded({ ...request, ...wrong }, async () => 1),
        code("config_invalid"),
      );
      assert.equal(server.calls.length, 0);
    });
  }
});

describe("an abort", () => {
  it("ends the wait at once and leaves no waiter", async () => {
    const lock = runner();
    const { free, outcome } = occupy(lock);
    await clock.advance(10);
    const caller = new AbortController();
    const waiting = lock.runGuarded({ ...request, signal: caller.signal }, async () => "entered");
    await clock.advance(100);
    const callsBefore = server.calls.length;
    caller.abort();
    await assert.rejects(clock.settle(waiting), code("aborted"));
    free();
    await clock.settle(outcome);
    await clock.advance(2_000);
    assert.equal(clock.pendingTimers, 0);
    assert.ok(server.callsOf("try").length <= callsBefore);
    assert.equal(server.holderOf(resource), null);
  });

  it("before the call sends no request", async () => {
    const call = runner().runGuarded({ ...request, signal: AbortSignal.abort() }, async () => 1);
    await assert.rejects(clock.settle(call), code("aborted"));
    assert.equal(server.calls.length, 0);
  });

  it("during a try releases the lock if that try is granted later", async () => {
    server.requestDelayMs = 50;
    const caller = new AbortController();
    const waiting = runner().runGuarded({ ...request, signal: caller.signal }, async () => "entered");
    await clock.advance(10);
    caller.abort();
    await assert.rejects(clock.settle(waiting), code("aborted"));
    await clock.advance(500);
    assert.equal(server.callsOf("try").length, 1);
    assert.equal(server.holderOf(resource), null);
    assert.ok(server.trySignals.every((signal) => signal.aborted));
  });

  it("in the same turn as the grant releases the lock and does not start the section", async () => {
    const caller = new AbortController();
    const backend = server.backend();
    const createHandle = (context: HandleContext): LockHandle => {
      const handle = backend.createHandle(context);
      return { ...handle, tryAcquire: (limits) => settlingInTurn(handle.tryAcquire(limits), () => caller.abort()) };
    };
    const lock = runner({}, { ...backend, createHandle });
    const call = lock.runGuarded({ ...request, signal: caller.signal }, async () => assert.fail("the section started"));
    await assert.rejects(clock.settle(call), code("aborted"));
    assert.equal(server.holderOf(resource), null);
  });

  it("during the section does not end it, and the lock is still released", async () => {
    const caller = new AbortController();
    const call = runner().runGuarded({ ...request, signal: caller.signal }, async () => {
      caller.abort();
      await clock.sleep(10);
      return "done";
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.value === "done");
    assert.equal(server.holderOf(resource), null);
  });
});

describe("disposal", () => {
  it("aborts waiters, waits for the holder and rejects new calls", async () => {
    const lock = runner();
    const { free, outcome } = occupy(lock);
    await clock.advance(10);
    const waiting = lock.runGuarded(request, async () => "entered");
    const aborted = assert.rejects(waiting, code("aborted"));
    await clock.advance(10);
    let isDisposed = false;
    const disposal = lock[Symbol.asyncDispose]().then(() => {
      isDisposed = true;
    });
    await clock.advance(50);
    await aborted;
    assert.equal(isDisposed, false);
    free();
    await clock.settle(disposal);
    assert.equal((await outcome).status, "completed");
    await assert.rejects(
      lock.runGuarded(request, async () => 1),
      code("config_invalid"),
    );
    assert.equal(clock.pendingTimers, 0);
  });

  it("waits for the answer to a renewal that was given up, so that the renewal leaves no timer", async () => {
    server.extraDelayMs = (kind) => (kind === "renew" ? 200 : 0);
    const lock = runner();
    // The renewal is sent at 100 ms and given up at 200 ms. Its answer arrives at 300 ms.
    await clock.settle(lock.runGuarded(request, () => clock.sleep(220)));
    await clock.settle(lock[Symbol.asyncDispose]());
    assert.equal(clock.pendingTimers, 0);
  });
});
