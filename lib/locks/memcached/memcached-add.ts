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
  mechanism: "add with an expiry in whole seconds; gets and cas compare the holder before they free or renew.",
  remark: "lost on flush",
  needs: ["memcached"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

/** Longer expiries are dates to Memcached. */
const LONGEST_EXPIRY_SECONDS = 30 * 24 * 60 * 60;
/** Expired as soon as stored. */
const EXPIRED = -1;
/** Only a command of our own that comes late can change an item that is ours, and there is at most one. */
const MAX_COMPARISONS = 3;

class MemcachedAddHandle implements LockHandle {
  readonly #client: MemcachedCommands;
  readonly #context: HandleContext;
  /** False while it is certain that the server keeps nothing of ours. */
  #mayHold = false;

  constructor(client: MemcachedCommands, context: HandleContext) {
    this.#client = client;
    this.#context = context;
  }

  async tryAcquire() {
    const { resource: key, holderId: value, ttlMs } = this.#context;
    const expirySeconds = expiryFor(ttlMs);
    if (expirySeconds > LONGEST_EXPIRY_SECONDS)
      throw this.#asLockError(new MemcachedError("refused", "ttlMs is too long"));
    this.#mayHold = true;
    const isAdded = await this.#asked(this.#client.add({ key, value, expirySeconds }));
    if (!isAdded) this.#mayHold = false;
    return { status: isAdded ? "granted" : "held" } as const;
  }

  async renew() {
    return (await this.#asked(this.#replaceOwn(expiryFor(this.#context.ttlMs)))) ? "renewed" : "lost";
  }

  async release() {
    if (!this.#mayHold) return "released";
    return (await this.#asked(this.#replaceOwn(EXPIRED))) ? "released" : "not_held";
  }

  /** @returns false when the item is not, or no longer, ours */
  async #replaceOwn(expirySeconds: number): Promise<boolean> {
    const { resource: key, holderId: value } = this.#context;
    for (let comparison = 1; comparison <= MAX_COMPARISONS; comparison += 1) {
      const version = await this.#client.gets(key);
      if (version?.value !== value) return false;
      const outcome = await this.#client.cas({ key, value, expirySeconds }, version);
      if (outcome !== "changed") return outcome === "stored";
    }
    throw new MemcachedError("not-serving", "the item changes under every comparison");
  }

  async #asked<T>(command: Promise<T>): Promise<T> {
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

/**
 * Rounded up, and one more: the server may count a second that had almost passed when the item came, and must not give
 * the lock to the next before this holder has stopped believing in it.
 */
function expiryFor(ttlMs: number): number {
  return Math.ceil(ttlMs / 1_000) + 1;
}

/**
 * A lease in one Memcached: `add resource holderId`, which only one caller can; freed and renewed only by its holder.
 *
 * Guarantees one holder at a time while the server keeps the item and no holder outlives its lease unnoticed. Memcached
 * is a cache: a flush, a restart or an eviction takes the lock away without a word, and a second holder enters. A holder
 * paused past the TTL breaks it as well; a holder's crash costs the others up to two seconds more than one TTL.
 * There is no compare-and-delete: a release reads the item by `gets` and, where it is the holder's, replaces it by
 * `cas` with one that has expired, so that nobody else's lock is freed. A renewal does the same with a new expiry.
 * Waiters poll with jitter and are served in no order. No fencing token: a counter in the same cache would be lost with
 * the lock.
 * The server's clock ends the lease, in whole seconds: it keeps the item for more than `ttlMs`, and for less than `ttlMs`
 * rounded up plus one second. The caller's monotonic clock, minus drift, says when to stop believing in it.
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
