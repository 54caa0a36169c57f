import type { MemcachedCommands, MemcachedItem, MemcachedVersion } from "../../lib/locks/memcached/memcached-port";
import { MemcachedError } from "../../lib/locks/memcached/memcached-port";
import type { Link } from "../world/network";
import { SimServer, shorten } from "./sim-server";

interface Stored {
  readonly value: string;
  readonly casUnique: string;
  /** In seconds of the server's clock. Infinity: does not expire. */
  readonly expiresAtTick: number;
}

/** The timer that reads the clock once a second is late by this much, far more than a real one: it skips a second in short worlds too. */
const TIMER_LATE_MS = 400;

/** One Memcached server. Expiry is in whole seconds of a clock that is read about once per second. */
export class SimMemcached extends SimServer {
  #items = new Map<string, Stored>();
  #casUnique = 0;

  add(item: MemcachedItem): boolean {
    if (this.#live(item.key)) return false;
    this.#store(item);
    this.world.trace(() => `${this.name}: ${shorten(item.value)} takes ${item.key} for ${item.expirySeconds} s`);
    return true;
  }

  set(item: MemcachedItem): void {
    const existing = this.#live(item.key);
    if (existing) this.#recordChange(item, existing);
    this.#store(item);
  }

  gets(key: string): MemcachedVersion | null {
    const item = this.#live(key);
    return item ? { value: item.value, casUnique: item.casUnique } : null;
  }

  cas(item: MemcachedItem, version: MemcachedVersion): "stored" | "changed" | "gone" {
    const existing = this.#live(item.key);
    if (!existing) return "gone";
    if (existing.casUnique !== version.casUnique) return "changed";
    this.#recordChange(item, existing);
    this.#store(item);
    return "stored";
  }

  increment(key: string, by: number): number | null {
    const existing = this.#live(key);
    if (!existing) return null;
    const sum = Number(existing.value) + by;
    this.#items.set(key, { ...existing, value: String(sum), casUnique: this.#nextCas() });
    return sum;
  }

  protected override dropData(): void {
    this.#items = new Map();
  }

  get #tick(): number {
    const periodMs = 1_000 + TIMER_LATE_MS;
    const readAtMs = Math.floor(this.nowMs / periodMs) * periodMs;
    return Math.floor(readAtMs / 1_000);
  }

  #recordChange(item: MemcachedItem, existing: Stored): void {
    if (item.expirySeconds < 0) this.recordRelease(item.value, existing.value);
    else this.recordRenewal(item.value, existing.value);
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

/** A client with one connection that never sends a command twice. */
export function memcachedCommandsOver(link: Link, server: SimMemcached): MemcachedCommands {
  const send = async <T>(execute: () => T): Promise<T> => {
    try {
      return await link.request(execute);
    } catch (error) {
      throw new MemcachedError("unreachable", error instanceof Error ? error.message : String(error), error);
    }
  };
  return {
    add: (item) => send(() => server.add(item)),
    set: (item) => send(() => server.set(item)),
    gets: (key) => send(() => server.gets(key)),
    cas: (item, version) => send(() => server.cas(item, version)),
    increment: (key, by) => send(() => server.increment(key, by)),
    [Symbol.asyncDispose]: async () => {},
  };
}
