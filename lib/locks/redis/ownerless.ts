import type { HandleContext, LeaseBackend, LockHandle } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { RedisCalls } from "./redis-calls";
import type { RedisCommands } from "./redis-port";

/**
 * What the locks without an owner have in common: a key that says "taken" but not by whom, freed by a plain DEL. They
 * differ in how they take it.
 */
export interface OwnerlessLock {
  readonly traits: StrategyTraits;
  /** `none` where the key stays until it is deleted; `unwatched` where a clock ends it and the holder does not look. */
  readonly leaseKind: "none" | "unwatched";
  /** @returns true when the server has said that the key is ours */
  take(taking: OwnerlessAttempt): Promise<boolean>;
  /** What is left to do once the key is ours, for the lock that needs a second command. */
  finish?(taking: OwnerlessAttempt): Promise<void>;
}

/** One try. */
export interface OwnerlessAttempt {
  readonly calls: RedisCalls;
  readonly key: string;
  readonly context: HandleContext;
}

/**
 * Where an ownerless lock keeps its key. Each strategy has keys of its own: what one writes, another would misread (a
 * time of day as an owner, an old-looking value as a lease that has run out).
 */
export function ownerlessKey(strategyId: string, resource: string): string {
  return `${strategyId}:${resource}`;
}

class OwnerlessHandle implements LockHandle {
  readonly #recipe: OwnerlessLock;
  readonly #taking: OwnerlessAttempt;
  /** The server has said that the key is ours. A reply that was lost leaves nothing to undo: the key names nobody. */
  #holds = false;

  constructor(client: RedisCommands, recipe: OwnerlessLock, context: HandleContext) {
    const { resource } = context;
    const { id: strategyId } = recipe.traits;
    this.#recipe = recipe;
    const calls = new RedisCalls(client, { strategyId, resource });
    this.#taking = { calls, key: ownerlessKey(strategyId, resource), context };
  }

  async tryAcquire() {
    this.#holds = await this.#recipe.take(this.#taking);
    if (!this.#holds) return { status: "held" } as const;
    await this.#recipe.finish?.(this.#taking);
    return { status: "granted" } as const;
  }

  /** Deletes the key whoever set it: the flaw that these locks share. */
  async release(): Promise<"released" | "not_held"> {
    if (!this.#holds) return "released";
    const { calls, key } = this.#taking;
    return (await calls.call("DEL", key)) === 1 ? "released" : "not_held";
  }
}

export interface OwnerlessLockSetup {
  readonly client: RedisCommands;
  readonly dependencies: RunnerDependencies;
  readonly options?: Partial<RunnerOptions>;
}

export function createOwnerless(recipe: OwnerlessLock, parts: OwnerlessLockSetup): LockStrategy {
  const backend: LeaseBackend = {
    traits: recipe.traits,
    leaseKind: recipe.leaseKind,
    createHandle: (context) => new OwnerlessHandle(parts.client, recipe, context),
  };
  return new LeaseRunner(backend, parts.dependencies, parts.options);
}
