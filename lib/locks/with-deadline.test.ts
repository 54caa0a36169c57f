import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "./testing/fake-clock";
import { withDeadline } from "./with-deadline";

describe("a wait with a limit", () => {
  it("ends with the work, however it ends", async () => {
    const clock = new FakeClock();
    assert.deepEqual(await withDeadline(clock, Promise.resolve(1), { limitMs: 10 }), { status: "value", value: 1 });
    const error = new Error("no");
    assert.deepEqual(await withDeadline(clock, Promise.reject(error), { limitMs: 10 }), { status: "error", error });
    assert.equal(clock.pendingTimers, 0);
  });

  it("ends at the limit", async () => {
    const clock = new FakeClock();
    const settled = await clock.settle(withDeadline(clock, new Promise(() => {}), { limitMs: 10 }));
    assert.deepEqual([settled.status, clock.nowMs()], ["late", 10]);
    assert.equal(clock.pendingTimers, 0);
  });

  it("ends with the signal, also one that has aborted before", async () => {
    const clock = new FakeClock();
    const caller = new AbortController();
    const wait = () => withDeadline(clock, new Promise(() => {}), { limitMs: 10, signal: caller.signal });
    const first = wait();
    caller.abort();
    assert.equal((await first).status, "aborted");
    assert.equal((await wait()).status, "aborted");
    assert.equal(clock.pendingTimers, 0);
  });

  it("does not take a stall of the process for silence: the answer that waits in the socket still counts", async () => {
    const clock = new FakeClock();
    // The reply is read right after the timers that fell due during the stall.
    const reply = clock.sleep(1_001).then(() => "in time");
    const wait = withDeadline(clock, reply, { limitMs: 500 });
    clock.freeze(1_000);
    assert.deepEqual(await clock.settle(wait), { status: "value", value: "in time" });
  });

  it("gives a stalled process one more moment only", async () => {
    const clock = new FakeClock();
    const wait = withDeadline(clock, new Promise(() => {}), { limitMs: 500 });
    clock.freeze(1_000);
    assert.equal((await clock.settle(wait)).status, "late");
    assert.ok(clock.nowMs() < 1_050);
    assert.equal(clock.pendingTimers, 0);
  });
});
