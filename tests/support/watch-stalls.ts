import { systemClock } from "../../lib/locks/clock";

const STALL_CHECK_MS = 10;
/** Shorter delays are the timers of a process that runs. */
const STALL_MS = 10;

/** Sums the time in which this process could not run: a call cannot end meanwhile. */
export function watchStalls(): Disposable & { totalMs(): number } {
  let stalledMs = 0;
  let seenMs = systemClock.nowMs();
  const look = () => {
    const lateMs = systemClock.nowMs() - seenMs - STALL_CHECK_MS;
    if (lateMs > STALL_MS) stalledMs += lateMs;
    seenMs = systemClock.nowMs();
  };
  const timer = setInterval(look, STALL_CHECK_MS);
  const totalMs = () => {
    look();
    return stalledMs;
  };
  return { totalMs, [Symbol.dispose]: () => clearInterval(timer) };
}
