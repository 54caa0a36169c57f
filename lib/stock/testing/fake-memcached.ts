import type { MemcachedCommands, MemcachedItem, MemcachedVersion } from "../../locks/memcached/memcached-port";

type CommandName = "add" | "set" | "gets" | "cas" | "increment";

/** Memcached in memory. Items do not expire, except at once with a negative expiry. */
export class FakeMemcached implements MemcachedCommands {
  readonly items = new Map<string, MemcachedVersion & { readonly expirySeconds: number }>();
  /** Called before each command; may change items or throw. */
  before: (command: CommandName, key: string) => void | Promise<void> = () => {};
  /** Called after each command was executed; an error that it throws is a lost reply. */
  after: (command: CommandName, key: string) => void = () => {};
  #version = 0;
  readonly #events: string[];

  constructor(events: string[] = []) {
    this.#events = events;
  }

  value(key: string): string | null {
    return this.items.get(key)?.value ?? null;
  }

  store({ key, value, expirySeconds }: MemcachedItem): void {
    this.#version += 1;
    if (expirySeconds < 0) this.items.delete(key);
    else this.items.set(key, { value, casUnique: String(this.#version), expirySeconds });
  }

  add(item: MemcachedItem): Promise<boolean> {
    return this.#run("add", item.key, () => {
      if (this.items.has(item.key)) return false;
      this.store(item);
      return true;
    });
  }

  set(item: MemcachedItem): Promise<void> {
    return this.#run("set", item.key, () => this.store(item));
  }

  gets(key: string): Promise<MemcachedVersion | null> {
    return this.#run("gets", key, () => this.items.get(key) ?? null);
  }

  cas(item: MemcachedItem, version: MemcachedVersion): Promise<"stored" | "changed" | "gone"> {
    return this.#run("cas", item.key, () => {
      const existing = this.items.get(item.key);
      if (!existing) return "gone";
      if (existing.casUnique !== version.casUnique) return "changed";
      this.store(item);
      return "stored";
    });
  }

  increment(key: string, by: number): Promise<number | null> {
    return this.#run("increment", key, () => {
      const existing = this.items.get(key);
      if (!existing) return null;
      const sum = Number(existing.value) + by;
      this.store({ key, value: String(sum), expirySeconds: existing.expirySeconds });
      return sum;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #run<T>(command: CommandName, key: string, execute: () => T): Promise<T> {
    this.#events.push(`memcached ${command} ${key.split(":", 1)[0]}`);
    await this.before(command, key);
    const reply = execute();
    this.after(command, key);
    return reply;
  }
}
