/**
 * The library's clock port. Code in lib/locks reads the time and sets timers only through it, so a simulator can run
 * the same code on simulated time. Only this file and random.ts may use the globals; a lint rule enforces that.
 */
export interface Clock {
  /** Monotonic milliseconds, fractional. Leases and deadlines are counted on it. */
  nowMs(): number;
  /** Wall clock. Only for protocols that store a time of day on the server (`redis-getset`, `redis-setnx-getset`). */
  epochMs(): number;
  setTimer(delayMs: number, callback: () => void): TimerHandle;
  clearTimer(timer: TimerHandle): void;
  /** Resolves after `delayMs` or when the signal aborts. The caller checks the signal. Never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Opaque timer handle of the clock that created it. */
export interface TimerHandle {
  readonly timer: unknown;
}

/** Longest delay of a Node timer: a longer one overflows and fires immediately. */
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

/** Implements `Clock.sleep` with a clock's timers. Leaves no timer and no listener behind. */
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
