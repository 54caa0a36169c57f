import type { Clock } from "./clock";

/**
 * How a bounded wait ended. After `late` and `aborted` the work is still running, and the caller must handle its
 * result.
 */
export type Settled<T> =
  | { readonly status: "value"; readonly value: T }
  | { readonly status: "error"; readonly error: unknown }
  | { readonly status: "late" }
  | { readonly status: "aborted" };

export interface WaitBounds {
  readonly limitMs: number;
  readonly signal?: AbortSignal;
}

/** If a timer fires later than this, the process itself was stalled. */
const STALL_MS = 20;
/** Long enough for the event loop to read pending socket data. */
const GRACE_MS = 20;

/**
 * Waits for the work until the deadline or an abort. Never rejects and leaves no timer.
 *
 * After a stall of the process, its timers run before its sockets are read. If the deadline timer fires late, the wait
 * is extended once by a short grace period, so that a local stall is not mistaken for an unresponsive server.
 */
export function withDeadline<T>(clock: Clock, work: Promise<T>, bounds: WaitBounds): Promise<Settled<T>> {
  const { limitMs, signal } = bounds;
  return new Promise((resolve) => {
    const end = (settled: Settled<T>) => {
      clock.clearTimer(timer);
      signal?.removeEventListener("abort", onAbort);
      resolve(settled);
    };
    const onAbort = () => end({ status: "aborted" });
    const dueMs = clock.nowMs() + limitMs;
    const late = () => end({ status: "late" });
    let timer = clock.setTimer(limitMs, () => {
      if (clock.nowMs() - dueMs < STALL_MS) late();
      else timer = clock.setTimer(GRACE_MS, late);
    });
    work.then(
      (value) => end({ status: "value", value }),
      (error: unknown) => end({ status: "error", error }),
    );
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}
