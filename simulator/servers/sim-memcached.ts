import type { MemcachedCommands, MemcachedItem, MemcachedVersion } from "../../lib/locks/memcached/memcached-port";
import { MemcachedError } from "../../lib/locks/memcached/memcached-port";
import type { Link } from "../world/network";
import { brief, SimServer } from "./sim-server";

interface Stored {
  readonly value: string;
  readonly casUnique: string;
  /** On a clock that ticks once a second. Infinity: never. */
  readonly expiresAtTick: number;
}

/** One Memcached: expiry in whole seconds of a clock that ticks once a second. */
export class SimMemcached extends SimServer {
  #items = new Map<string, Stored>();
  #casUnique = 0;

  add(item: MemcachedItem): boolean {
    if (this.#live(item.key)) return false;
    this.#store(item);
    this.world.say(() => `${this.name}: ${brief(item.value)} takes ${item.key} for ${item.expirySeconds} s`);
    return true;
  }

  set(item: MemcachedItem): void {
    const known = this.#live(item.key);
    if (known) this.#noteChange(item, known);
    this.#store(item);
  }

  gets(key: string): MemcachedVersion | null {
    const item = this.#live(key);
    return item ? { value: item.value, casUnique: item.casUnique } : null;
  }

  cas(item: MemcachedItem, version: MemcachedVersion): "stored" | "changed" | "gone" {
    const known = this.#live(item.key);
    if (!known) return "gone";
    if (known.casUnique !== version.casUnique) return "changed";
    this.#noteChange(item, known);
    this.#store(item);
    return "stored";
  }

  increment(key: string, by: number): number | null {
    const known = this.#live(key);
    if (!known) return null;
    const sum = Number(known.value) + by;
    this.#items.set(key, { ...known, value: String(sum), casUnique: this.#nextCas() });
    return sum;
  }

  protected override forget(): void {
    this.#items = new Map();
  }

  get #tick(): number {
    return Math.floor(this.nowMs / 1_000);
  }

  #noteChange(item: MemcachedItem, known: Stored): void {
    if (item.expirySeconds < 0) this.noteFreed(item.value, known.value);
    else this.noteRenewed(item.value, known.value);
  }

  #store({ key, value, expirySeconds }: MemcachedItem): void {
    const expiresAtTick = expirySeconds === 0 ? Number.POSITIVE_INFINITY : this.#tick + expirySeconds;
    this.#items.set(key, { value, casUnique: this.#nextCas(), expiresAtTick });
  }

  #nextCas(): string {
    this.#casUnique += 1;
    return String(this.#casUnique);
  }

  #live(key: string): Stored | undefined {
    const item = this.#items.get(key);
    return item && item.expiresAtTick > this.#tick ? item : undefined;
  }
}

/** One connection, nothing sent twice. */
export function memcachedOver(link: Link, server: SimMemcached): MemcachedCommands {
  const ask = async <T>(execute: () => T): Promise<T> => {
    try {
      return await link.request(execute);
    } catch (error) {
      throw new MemcachedError("unreachable", error instanceof Error ? error.message : String(error), error);
    }
  };
  return {
    add: (item) => ask(() => server.add(item)),
    set: (item) => ask(() => server.set(item)),
    gets: (key) => ask(() => server.gets(key)),
    cas: (item, version) => ask(() => server.cas(item, version)),
    increment: (key, by) => ask(() => server.increment(key, by)),
    [Symbol.asyncDispose]: async () => {},
  };
}
