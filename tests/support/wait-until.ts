import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 10;

export interface WaitBounds {
  /** The condition, for the error message. */
  readonly what: string;
  /** Default: long enough to start a process on a busy machine. */
  readonly withinMs?: number;
}

/** Polls a condition until it is true. @throws Error that names the condition if it does not become true in time */
export async function waitUntil(condition: () => boolean | Promise<boolean>, bounds: WaitBounds): Promise<void> {
  const { what, withinMs = 30_000 } = bounds;
  const deadlineMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`timed out after ${withinMs} ms waiting for ${what}`);
    await sleep(POLL_MS);
  }
}
