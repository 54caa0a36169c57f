import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { FifoSemaphore, type Ticket } from "./fifo-semaphore";

const never = new AbortController().signal;

describe("FifoSemaphore", () => {
  it("lets in as many as it is wide, and the next when one gives its ticket back", async () => {
    const turnstile = new FifoSemaphore(2);
    const tickets = [turnstile.take(), turnstile.take(), turnstile.take(), turnstile.take()];
    assert.deepEqual(
      tickets.map(({ isIn }) => isIn),
      [true, true, false, false],
    );
    const third = tickets[2]?.untilIn(never);
    tickets[0]?.giveBack();
    await third;
    assert.deepEqual(
      tickets.map(({ isIn }) => isIn),
      [true, true, true, false],
    );
  });

  it("passes over whoever gave up while waiting", () => {
    const turnstile = new FifoSemaphore(1);
    const [first, second, third] = [turnstile.take(), turnstile.take(), turnstile.take()];
    second.giveBack();
    first.giveBack();
    assert.equal(third.isIn, true);
  });

  it("ends a wait when its signal aborts, and keeps the place in line", async () => {
    const turnstile = new FifoSemaphore(1);
    const first = turnstile.take();
    const second = turnstile.take();
    const caller = new AbortController();
    const wait = second.untilIn(caller.signal);
    caller.abort();
    await wait;
    assert.equal(second.isIn, false);
    first.giveBack();
    assert.equal(second.isIn, true);
  });

  it("tells when nobody is left, once for each time", () => {
    let empty = 0;
    const turnstile = new FifoSemaphore(1, () => {
      empty += 1;
    });
    const [first, second] = [turnstile.take(), turnstile.take()];
    first.giveBack();
    first.giveBack();
    assert.equal(empty, 0);
    second.giveBack();
    assert.equal(empty, 1);
  });

  it("never has more in than it is wide, nor anybody waiting while there is room, nor out of turn", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), steps, (width, script) => {
        const turnstile = new FifoSemaphore(width);
        const held: Ticket[] = [];
        for (const step of script) {
          // Below 5 somebody comes, from 5 on somebody goes.
          if (step < 5 || held.length === 0) held.push(turnstile.take());
          else for (const gone of held.splice((step - 5) % held.length, 1)) gone.giveBack();
          const entered = held.map(({ isIn }) => isIn);
          assert.deepEqual(
            entered,
            held.map((_, index) => index < width),
          );
        }
      }),
    );
  });
});
