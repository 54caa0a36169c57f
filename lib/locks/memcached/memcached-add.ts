import { LockError } from "../errors";
import type { HandleContext, LeaseBackend, LockHandle } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { isMemcachedError, type MemcachedCommands, MemcachedError } from "./memcached-port";

export const memcachedAddTraits: StrategyTraits = {
  id: "memcached-add",
  family: "memcached",
  kind: "lock",
  mechanism: "add with an expiry in whole seconds. gets and cas compare the holder before a release or a renewal.",
  remark: "lost on flush",
  needs: ["memcached"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

/** Memcached interprets a longer expiry as a date. */
const LONGEST_EXPIRY_SECONDS = 30 * 24 * 60 * 60;
/** An expiry that ends at once. */
const EXPIRED = -1;
/** Only one late command of the same handle can change an item that it owns. */
const MAX_COMPARISONS = 3;

class MemcachedAddHandle implements LockHandle {
  readonly #client: MemcachedCommands;
  readonly #context: HandleContext;
  /** False only if the server certainly stores nothing for this handle. */
  #mayHold = false;

  constructor(client: MemcachedCommands, context: HandleContext) {
    this.#client = client;
    this.#context = context;
  }

  async tryAcquire() {
    const { resource: key, holderId: value, ttlMs } = this.#context;
    const expirySeconds = expiryFor(ttlMs);
    if (expirySeconds > LONGEST_EXPIRY_SECONDS)
      throw this.#asLockError(new MemcachedError("refused", "ttlMs must be at most 30 days"));
    this.#mayHold = true;
    const isAdded = await this.#withLockError(this.#client.add({ key, value, expirySeconds }));
    if (!isAdded) this.#mayHold = false;
    return { status: isAdded ? "granted" : "held" } as const;
  }

  async renew() {
    return (await this.#withLockError(this.#replaceOwn(expiryFor(this.#context.ttlMs)))) ? "renewed" : "lost";
  }

  async release() {
    if (!this.#mayHold) return "released";
    return (await this.#withLockError(this.#replaceOwn(EXPIRED))) ? "released" : "not_held";
  }

  /** @returns false if this handle does not own the item */
  async #replaceOwn(expirySeconds: number): Promise<boolean> {
    const { resource: key, holderId: value } = this.#context;
    for (let comparison = 1; comparison <= MAX_COMPARISONS; comparison += 1) {
      const version = await this.#client.gets(key);
      if (version?.value !== value) return false;
      const outcome = await this.#client.cas({ key, value, expirySeconds }, version);
      if (outcome !== "changed") return outcome === "stored";
    }
    throw new MemcachedError("not-serving", "the item changed during every compare-and-swap");
  }

  async #withLockError<T>(command: Promise<T>): Promise<T> {
    try {
      return await command;
    } catch (error) {
      throw this.#asLockError(error);
    }
  }

  #asLockError(error: unknown): unknown {
    if (!isMemcachedError(error)) return error;
    return new LockError({
      code: isMemcachedError(error, "refused") ? "config_invalid" : "backend_unavailable",
      strategyId: memcachedAddTraits.id,
      resource: this.#context.resource,
      message: `Memcached: ${error.message}`,
      isDefinite: true,
      cause: error,
    });
  }
}

/** Up to two seconds of an expiry are lost to the server's clock, and up to one more if the server is late. */
const CLOCK_SECONDS = 3;

/** The item must not expire before the holder stops trusting its lease. */
function expiryFor(ttlMs: number): number {
  return Math.ceil(ttlMs / 1_000) + CLOCK_SECONDS;
}

/**
 * A lease in one Memcached server.
 *
 * Mechanism: `add resource holderId`, which succeeds for one caller. Memcached has no compare-and-delete, so a release
 * reads the item with `gets` and, if the holder owns it, uses `cas` to replace it with an expired item. A renewal does
 * the same with a new expiry.
 *
 * Guarantees one holder at a time while the server keeps the item and each holder stops when its lease expires. After a
 * holder crash, waiters are blocked for at most one TTL plus four seconds. Waiters poll with jitter, in no order.
 * Broken by: a flush, a restart or an eviction (Memcached is a cache), each of which silently removes the lock, so that
 * a second holder enters; and a holder paused past the TTL.
 * Fencing token: none. A counter in the same cache would be lost with the lock.
 * Clock: the server's clock ends the lease, in whole seconds: the item lives longer than `ttlMs`, if the server stands still for
 * less than a second, and at most `ttlMs` rounded up plus three seconds. The holder trusts its own monotonic clock, minus drift. Times in milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://github.com/memcached/memcached/blob/master/doc/protocol.txt
 */
export function createMemcachedAdd(
  client: MemcachedCommands,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const backend: LeaseBackend = {
    traits: memcachedAddTraits,
    leaseKind: "ttl",
    createHandle: (context) => new MemcachedAddHandle(client, context),
  };
  return new LeaseRunner(backend, dependencies, options);
}

/** Registration, listed in all-locks.ts. */
export const memcachedAdd: LockEntry = {
  traits: memcachedAddTraits,
  create: (dependencies) => createMemcachedAdd(dependencies.memcached(), dependencies),
};
