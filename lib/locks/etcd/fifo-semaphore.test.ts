import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { FifoSemaphore, type Permit } from "./fifo-semaphore";

const never = new AbortController().signal;

describe("FifoSemaphore", () => {
  it("grants up to the limit, and the next permit after a release", async () => {
    const semaphore = new FifoSemaphore(2);
    const permits = [semaphore.request(), semaphore.request(), semaphore.request(), semaphore.request()];
    assert.deepEqual(
      permits.map(({ isGranted }) => isGranted),
      [true, true, false, false],
    );
    const third = permits[2]?.untilGranted(never);
    permits[0]?.release();
    await third;
    assert.deepEqual(
      permits.map(({ isGranted }) => isGranted),
      [true, true, true, false],
    );
  });

  it("skips a permit that was released while waiting", () => {
    const semaphore = new FifoSemaphore(1);
    const [first, second, third] = [semaphore.request(), semaphore.request(), semaphore.request()];
    second.release();
    first.release();
    assert.equal(third.isGranted, true);
  });

  it("ends a wait when its signal aborts, and keeps the permit queued", async () => {
    const semaphore = new FifoSemaphore(1);
    const first = semaphore.request();
    const second = semaphore.request();
    const caller = new AbortController();
    const wait = second.untilGranted(caller.signal);
    caller.abort();
    await wait;
    assert.equal(second.isGranted, false);
    first.release();
    assert.equal(second.isGranted, true);
  });

  it("calls onEmpty once when the last permit is released", () => {
    let empty = 0;
    const semaphore = new FifoSemaphore(1, () => {
      empty += 1;
    });
    const [first, second] = [semaphore.request(), semaphore.request()];
    first.release();
    first.release();
    assert.equal(empty, 0);
    second.release();
    assert.equal(empty, 1);
  });

  it("always grants the oldest permits, up to the limit", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), steps, (limit, script) => {
        const semaphore = new FifoSemaphore(limit);
        const held: Permit[] = [];
        for (const step of script) {
          // Below 5, a caller requests a permit. From 5 on, a caller releases one.
          if (step < 5 || held.length === 0) held.push(semaphore.request());
          else for (const released of held.splice((step - 5) % held.length, 1)) released.release();
          const granted = held.map(({ isGranted }) => isGranted);
          assert.deepEqual(
            granted,
            held.map((_, index) => index < limit),
          );
        }
      }),
    );
  });
});
