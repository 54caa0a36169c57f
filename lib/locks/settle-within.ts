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

/** Waits for the work, but not longer than the limit and not past an abort. Never rejects; leaves no timer. */
export function settleWithin<T>(clock: Clock, work: Promise<T>, bounds: WaitBounds): Promise<Settled<T>> {
  const { limitMs, signal } = bounds;
  return new Promise((resolve) => {
    const end = (settled: Settled<T>) => {
      clock.clearTimer(timer);
      signal?.removeEventListener("abort", onAbort);
      resolve(settled);
    };
    const onAbort = () => end({ status: "aborted" });
    const timer = clock.setTimer(limitMs, () => end({ status: "late" }));
    work.then(
      (value) => end({ status: "value", value }),
      (error: unknown) => end({ status: "error", error }),
    );
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}
