import { createLocalMutex, localMutexTraits } from "./baseline/local-mutex";
import { createNone, noneTraits } from "./baseline/none";
import { LockError } from "./errors";
import { createRedisLock, redisLockTraits } from "./redis/redis-lock";
import type { RedisCommands } from "./redis/redis-port";
import { createRedlock, redlockTraits } from "./redlock/redlock";
import type { RunnerDependencies } from "./runner-context";
import type { LockStrategy, StrategyTraits } from "./types";
import { createZkMutex, zkMutexTraits } from "./zookeeper/zk-mutex";
import type { ZkSession } from "./zookeeper/zk-port";

/**
 * What strategies are made of. The functions are called when a strategy that needs the server is created, and may be
 * called more than once: hand out one client each time. Clients connect lazily and stay yours to close.
 * A function may throw (a LockError `config_invalid`) when its server is not configured.
 */
export interface LockDependencies extends RunnerDependencies {
  /** An ioredis client made with `redisOptionsForLocks`. */
  redis(): RedisCommands;
  /** One client for each of the independent servers, in a fixed order, made with `redisOptionsForLocks`. */
  redlock(): readonly RedisCommands[];
  /** `openZkSession(hosts)`. */
  zookeeper(): ZkSession;
}

export interface LockEntry {
  readonly traits: StrategyTraits;
  create(dependencies: LockDependencies): LockStrategy;
}

/** Every lock of the library: one line each. */
const entries: readonly LockEntry[] = [
  { traits: noneTraits, create: createNone },
  { traits: localMutexTraits, create: createLocalMutex },
  { traits: redisLockTraits, create: (dependencies) => createRedisLock(dependencies.redis(), dependencies) },
  { traits: redlockTraits, create: (dependencies) => createRedlock(dependencies.redlock(), dependencies) },
  { traits: zkMutexTraits, create: (dependencies) => createZkMutex(dependencies.zookeeper(), dependencies) },
];

export const lockCatalogue: ReadonlyMap<string, LockEntry> = new Map(entries.map((entry) => [entry.traits.id, entry]));

/** @throws {LockError} `config_invalid` for an unknown id, naming the valid ones */
export function createLock(id: string, dependencies: LockDependencies): LockStrategy {
  const entry = lockCatalogue.get(id);
  if (entry) return entry.create(dependencies);
  const message = `there is no such strategy; valid ids: ${[...lockCatalogue.keys()].join(", ")}`;
  throw new LockError({ code: "config_invalid", strategyId: id, resource: "-", message, isDefinite: true });
}
