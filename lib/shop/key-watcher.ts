import { setTimeout as delay } from "node:timers/promises";

export type KeyName = readonly [userId: string, route: string, key: string];

/** @returns those of the keys whose request ended, failed or lost its claim */
export type FindChanged = (names: readonly KeyName[]) => Promise<readonly KeyName[]>;

interface Waiters {
  readonly name: KeyName;
  readonly wakeUps: Set<() => void>;
}

const POLL_MS = 50;

/**
 * Waits for requests that run on other nodes. It polls all waiting keys with one statement per interval, and only while a
 * request waits.
 */
export class KeyWatcher {
  private readonly waiting = new Map<string, Waiters>();
  private isPolling = false;

  constructor(private readonly findChanged: FindChanged) {}

  /** Resolves when the key has changed, or after `limitMs`. */
  async changed(name: KeyName, limitMs: number): Promise<void> {
    const id = JSON.stringify(name);
    const waiters = this.waiting.get(id) ?? { name, wakeUps: new Set<() => void>() };
    this.waiting.set(id, waiters);
    await new Promise<void>((resolve) => {
      const wakeUp = () => {
        clearTimeout(timer);
        waiters.wakeUps.delete(wakeUp);
        if (waiters.wakeUps.size === 0 && this.waiting.get(id) === waiters) this.waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(wakeUp, limitMs);
      waiters.wakeUps.add(wakeUp);
      if (!this.isPolling) void this.poll();
    });
  }

  private async poll(): Promise<void> {
    this.isPolling = true;
    while (this.waiting.size > 0) {
      await delay(POLL_MS);
      const names = [...this.waiting.values()].map(({ name }) => name);
      // Ignore the error here: the next poll retries, and every waiter has its own limit.
      const changed = await this.findChanged(names).catch(() => []);
      for (const name of changed)
        for (const wakeUp of [...(this.waiting.get(JSON.stringify(name))?.wakeUps ?? [])]) wakeUp();
    }
    this.isPolling = false;
  }
}
