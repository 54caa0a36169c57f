import assert from "node:assert/strict";
import { type Clock, sleepOn, systemClock, type TimerHandle } from "../../../../lib/locks/clock";
import { stayIn } from "../../../support/stay";
import { waitUntil } from "../../../support/wait-until";
import type { LockCase } from "../case";
import { makeLock } from "../test-setup";

export const noTimerAfterACall: LockCase = {
  name: () => "leaves no timer behind when a call is over, however it ends",
  async run(subject) {
    const { clock, pending } = countTimers(systemClock);
    await using lock = makeLock(subject.plug, subject.foreign, { ...subject.clients, clock });
    const request = subject.fresh();
    await assert.rejects(lock.runGuarded(request, () => Promise.reject(new Error("out of paper"))));
    await using holder = await stayIn(lock, request);
    // A server on a busy disk may leave so short a wait without an answer.
    await Promise.allSettled([lock.runGuarded({ ...request, waitTimeoutMs: 30 }, async () => {})]);
    await Promise.allSettled([lock.runGuarded({ ...request, signal: AbortSignal.timeout(30) }, async () => {})]);
    await holder.leave();
    await waitUntil(() => pending() === 0, { what: "the timers of ended calls to be cleared", withinMs: 3_000 });
  },
};

/** A clock that knows how many of its timers are set. */
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
