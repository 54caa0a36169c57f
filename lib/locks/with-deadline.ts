import type { Clock } from "./clock";

/** How a wait with a bound ended. `late` and `aborted` leave the work running: its owner must still look after it. */
export type Settled<T> =
  | { readonly status: "value"; readonly value: T }
  | { readonly status: "error"; readonly error: unknown }
  | { readonly status: "late" }
  | { readonly status: "aborted" };

export interface WaitBounds {
  readonly limitMs: number;
  readonly signal?: AbortSignal;
}

/** A timer this late was held up by this process itself. */
const STALL_MS = 20;
/** Long enough for the event loop to read what came in meanwhile. */
const GRACE_MS = 20;

/**
 * Waits for the work, but not longer than the limit and not past an abort. Never rejects; leaves no timer.
 *
 * After a stall of the process its timers run before its sockets are read. So a limit that strikes late is given a
 * moment once, lest the process take its own stall for the server's silence.
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
