import { setTimeout as delay } from "node:timers/promises";

/** Buyer, route and key. */
export type KeyName = readonly [userId: string, route: string, key: string];

/** @returns those of the keys that are worth another look: answered, given up, or gone */
export type FindChanged = (names: readonly KeyName[]) => Promise<readonly KeyName[]>;

const POLL_MS = 50;

/**
 * Waits for requests that run at other nodes. However many wait here, they are looked up together, in one statement a round,
 * and nothing runs while nobody waits.
 */
export class KeyWatcher {
  private readonly waiting = new Map<string, { readonly name: KeyName; readonly wake: Set<() => void> }>();
  private isWatching = false;

  constructor(private readonly findChanged: FindChanged) {}

  /** Resolves when the key is worth another look, or after `limitMs`. */
  async changed(name: KeyName, limitMs: number): Promise<void> {
    const id = JSON.stringify(name);
    const entry = this.waiting.get(id) ?? { name, wake: new Set<() => void>() };
    this.waiting.set(id, entry);
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        entry.wake.delete(end);
        if (entry.wake.size === 0 && this.waiting.get(id) === entry) this.waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(end, limitMs);
      entry.wake.add(end);
      if (!this.isWatching) void this.watch();
    });
  }

  private async watch(): Promise<void> {
    this.isWatching = true;
    while (this.waiting.size > 0) {
      await delay(POLL_MS);
      const names = [...this.waiting.values()].map(({ name }) => name);
      // A look that fails is followed by the next; those who wait have their own limit.
      const changed = await this.findChanged(names).catch(() => []);
      for (const name of changed) for (const wake of [...(this.waiting.get(JSON.stringify(name))?.wake ?? [])]) wake();
    }
    this.isWatching = false;
  }
}
