import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 10;

export interface WaitBounds {
  /** What is waited for, for the message of a wait that was in vain. */
  readonly what: string;
  /** Where it is left out: long enough to start a process on a busy machine. */
  readonly withinMs?: number;
}

/** Waits for a condition, with a bound. @throws Error that names the condition */
export async function waitUntil(condition: () => boolean | Promise<boolean>, bounds: WaitBounds): Promise<void> {
  const { what, withinMs = 30_000 } = bounds;
  const deadlineMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`waited ${withinMs} ms in vain for: ${what}`);
    await sleep(POLL_MS);
  }
}
