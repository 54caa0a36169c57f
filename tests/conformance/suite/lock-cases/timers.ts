import assert from "node:assert/strict";
import { type Clock, sleepOn, systemClock, type TimerHandle } from "../../../../lib/locks/clock";
import { holdLock } from "../../../support/hold-lock";
import { waitUntil } from "../../../support/wait-until";
import type { LockCase } from "../case";
import { makeLock } from "../test-setup";

export const noTimerAfterACall: LockCase = {
  name: () => "leaves no timer behind after a call, for every outcome",
  async run(tested) {
    const { clock, pending } = countTimers(systemClock);
    await using lock = makeLock(tested.setup, tested.external, { ...tested.clients, clock });
    const request = tested.fresh();
    await assert.rejects(lock.runGuarded(request, () => Promise.reject(new Error("out of paper"))));
    await using holder = await holdLock(lock, request);
    // A server with a busy disk may not answer within such a short wait.
    await Promise.allSettled([lock.runGuarded({ ...request, waitTimeoutMs: 30 }, async () => {})]);
    await Promise.allSettled([lock.runGuarded({ ...request, signal: AbortSignal.timeout(30) }, async () => {})]);
    await holder.leave();
    await waitUntil(() => pending() === 0, { what: "the timers of ended calls to be cleared", withinMs: 3_000 });
  },
};

/** A clock that counts its pending timers. */
function countTimers(real: Clock): { clock: Clock; pending: () => number } {
  const set = new Set<TimerHandle>();
  const clock: Clock = {
    nowMs: () => real.nowMs(),
    epochMs: () => real.epochMs(),
    setTimer(delayMs, callback) {
      const timer = real.setTimer(delayMs, () => {
        set.delete(timer);
        callback();
      });
      set.add(timer);
      return timer;
    },
    clearTimer(timer) {
      set.delete(timer);
      real.clearTimer(timer);
    },
    sleep: (delayMs, signal) => sleepOn(clock, delayMs, signal),
  };
  return { clock, pending: () => set.size };
}
