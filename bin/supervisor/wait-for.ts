import { setTimeout as sleep } from "node:timers/promises";

/** Polls a condition until it holds. @throws Error when the time limit passes */
export async function waitFor<T>(
  condition: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  options: {
    readonly what: string;
    readonly timeoutMs: number;
    readonly pollMs?: number;
    readonly signal?: AbortSignal;
  },
): Promise<T> {
  const deadlineMs = performance.now() + options.timeoutMs;
  for (;;) {
    options.signal?.throwIfAborted();
    const value = await condition();
    if (value !== null && value !== undefined && value !== false) return value;
    if (performance.now() >= deadlineMs) {
      throw new Error(`${options.what}: timed out after ${(options.timeoutMs / 1000).toFixed(0)} s`);
    }
    await sleep(options.pollMs ?? 50, undefined, { signal: options.signal });
  }
}
