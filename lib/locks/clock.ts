/**
 * Time as the library sees it. Nothing in lib/locks reads a clock or sets a timer but through this port, so that a
 * simulator can run the same code on a clock of its own. This file and random.ts are the only ones that may touch
 * the globals; a lint rule holds the others to it.
 */
export interface Clock {
  /** Monotonic milliseconds, fractional. Leases and deadlines are counted on it. */
  nowMs(): number;
  /** Wall clock. Only for protocols that write a time of day into their server (`redis-getset` and its kin). */
  epochMs(): number;
  setTimer(delayMs: number, callback: () => void): TimerHandle;
  clearTimer(timer: TimerHandle): void;
  /** Resolves after `delayMs`, or as soon as the signal aborts: the caller looks at the signal. Never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Opaque: whatever the clock that made it needs to clear it. */
export interface TimerHandle {
  readonly timer: unknown;
}

/** Longest delay a Node timer takes before it overflows and fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  epochMs: () => Date.now(),
  setTimer: (delayMs, callback) => ({
    timer: setTimeout(callback, Math.min(MAX_TIMER_MS, Math.max(0, Math.ceil(delayMs)))),
  }),
  clearTimer: ({ timer }) => clearTimeout(timer as NodeJS.Timeout),
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};

/** `Clock.sleep` made of a clock's own timers. Leaves neither timer nor listener behind. */
export function sleepOn(
  clock: Pick<Clock, "setTimer" | "clearTimer">,
  delayMs: number,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      clock.clearTimer(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = clock.setTimer(delayMs, wake);
    signal?.addEventListener("abort", wake, { once: true });
  });
}
