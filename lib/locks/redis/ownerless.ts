import type { HandleContext, LeaseBackend, LockHandle } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { RedisCalls } from "./redis-calls";
import type { RedisCommands } from "./redis-port";

/**
 * A lock whose key says "taken" but not by whom, and is released by a plain DEL. The locks of this kind differ in how
 * they acquire the key.
 */
export interface OwnerlessLock {
  readonly traits: StrategyTraits;
  /** `none` if the key stays until it is deleted; `unwatched` if it expires and the holder does not check that. */
  readonly leaseKind: "none" | "unwatched";
  /** @returns true if the server confirmed that this attempt acquired the key */
  acquire(attempt: OwnerlessAttempt): Promise<boolean>;
  /** Runs after the key is acquired, for the lock that needs a second command. */
  afterAcquire?(attempt: OwnerlessAttempt): Promise<void>;
}

/** One try. */
export interface OwnerlessAttempt {
  readonly calls: RedisCalls;
  readonly key: string;
  readonly context: HandleContext;
}

/**
 * The key of an ownerless lock. Each strategy uses separate keys, because it would misread the values of another: a
 * time of day as an owner, or an old value as an expired lease.
 */
export function ownerlessKey(strategyId: string, resource: string): string {
  return `${strategyId}:${resource}`;
}

class OwnerlessHandle implements LockHandle {
  readonly #lock: OwnerlessLock;
  readonly #attempt: OwnerlessAttempt;
  /**
   * The server confirmed the grant. A try whose reply was lost cannot be undone, because the key does not name its
   * holder.
   */
  #holds = false;

  constructor(client: RedisCommands, lock: OwnerlessLock, context: HandleContext) {
    const { resource } = context;
    const { id: strategyId } = lock.traits;
    this.#lock = lock;
    const calls = new RedisCalls(client, { strategyId, resource });
    this.#attempt = { calls, key: ownerlessKey(strategyId, resource), context };
  }

  async tryAcquire() {
    this.#holds = await this.#lock.acquire(this.#attempt);
    if (!this.#holds) return { status: "held" } as const;
    await this.#lock.afterAcquire?.(this.#attempt);
    return { status: "granted" } as const;
  }

  /** Deletes the key of any holder: the flaw that these locks share. */
  async release(): Promise<"released" | "not_held"> {
    if (!this.#holds) return "released";
    const { calls, key } = this.#attempt;
    return (await calls.call("DEL", key)) === 1 ? "released" : "not_held";
  }
}

export interface OwnerlessLockSetup {
  readonly client: RedisCommands;
  readonly dependencies: RunnerDependencies;
  readonly options?: Partial<RunnerOptions>;
}

export function createOwnerless(lock: OwnerlessLock, setup: OwnerlessLockSetup): LockStrategy {
  const backend: LeaseBackend = {
    traits: lock.traits,
    leaseKind: lock.leaseKind,
    createHandle: (context) => new OwnerlessHandle(setup.client, lock, context),
  };
  return new LeaseRunner(backend, setup.dependencies, setup.options);
}
