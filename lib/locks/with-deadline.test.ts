import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "./testing/fake-clock";
import { withDeadline } from "./with-deadline";

describe("withDeadline", () => {
  it("settles with the value or the error of the work", async () => {
    const clock = new FakeClock();
    assert.deepEqual(await withDeadline(clock, Promise.resolve(1), { limitMs: 10 }), { status: "value", value: 1 });
    const error = new Error("no");
    assert.deepEqual(await withDeadline(clock, Promise.reject(error), { limitMs: 10 }), { status: "error", error });
    assert.equal(clock.pendingTimers, 0);
  });

  it("settles as late at the deadline", async () => {
    const clock = new FakeClock();
    const settled = await clock.settle(withDeadline(clock, new Promise(() => {}), { limitMs: 10 }));
    assert.deepEqual([settled.status, clock.nowMs()], ["late", 10]);
    assert.equal(clock.pendingTimers, 0);
  });

  it("settles as aborted when the signal aborts, or if it was aborted before", async () => {
    const clock = new FakeClock();
    const caller = new AbortController();
    const wait = () => withDeadline(clock, new Promise(() => {}), { limitMs: 10, signal: caller.signal });
    const first = wait();
    caller.abort();
    assert.equal((await first).status, "aborted");
    assert.equal((await wait()).status, "aborted");
    assert.equal(clock.pendingTimers, 0);
  });

  it("accepts an answer that arrived during a stall of the process", async () => {
    const clock = new FakeClock();
    // The process reads the reply right after the timers that fell due during the stall.
    const reply = clock.sleep(1_001).then(() => "in time");
    const wait = withDeadline(clock, reply, { limitMs: 500 });
    clock.freeze(1_000);
    assert.deepEqual(await clock.settle(wait), { status: "value", value: "in time" });
  });

  it("extends the deadline only once after a stall", async () => {
    const clock = new FakeClock();
    const wait = withDeadline(clock, new Promise(() => {}), { limitMs: 500 });
    clock.freeze(1_000);
    assert.equal((await clock.settle(wait)).status, "late");
    assert.ok(clock.nowMs() < 1_050);
    assert.equal(clock.pendingTimers, 0);
  });
});
