import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { FifoSemaphore, type Permit } from "./fifo-semaphore";

const never = new AbortController().signal;

describe("FifoSemaphore", () => {
  it("lets in as many as it is wide, and the next when one gives its permit back", async () => {
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

  it("passes over whoever gave up while waiting", () => {
    const semaphore = new FifoSemaphore(1);
    const [first, second, third] = [semaphore.request(), semaphore.request(), semaphore.request()];
    second.release();
    first.release();
    assert.equal(third.isGranted, true);
  });

  it("ends a wait when its signal aborts, and keeps the place in line", async () => {
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

  it("tells when nobody is left, once for each time", () => {
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

  it("never has more in than it is wide, nor anybody waiting while there is room, nor out of turn", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), steps, (width, script) => {
        const semaphore = new FifoSemaphore(width);
        const held: Permit[] = [];
        for (const step of script) {
          // Below 5 somebody comes, from 5 on somebody goes.
          if (step < 5 || held.length === 0) held.push(semaphore.request());
          else for (const gone of held.splice((step - 5) % held.length, 1)) gone.release();
          const entered = held.map(({ isGranted }) => isGranted);
          assert.deepEqual(
            entered,
            held.map((_, index) => index < width),
          );
        }
      }),
    );
  });
});
