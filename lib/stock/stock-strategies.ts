import type { Pool } from "pg";
import { strategyFamilies } from "../../servers/families";
import { createLock, type LockDependencies, lockEntries } from "../locks/create-lock";
import type { StrategyTraits } from "../locks/types";
import { parseLockVariants } from "../services/env";
import { CounterQueries } from "./counter-queries";
import { LockedStock, type SectionHooks } from "./locked-stock";
import { MemcachedCas, memcachedCasTraits } from "./memcached-cas";
import { createRedisDecrement, redisDecrementTraits } from "./redis-decrement";
import { createRedisWatch, redisWatchTraits } from "./redis-watch";
import { SqlBuckets, sqlBucketsTraits } from "./sql-buckets";
import { SqlDecrement, sqlDecrementTraits } from "./sql-decrement";
import { SqlGuarded, sqlGuardedTraits } from "./sql-guarded";
import { SqlOptimistic, sqlOptimisticTraits } from "./sql-optimistic";
import { SqlSerializable, sqlSerializableTraits } from "./sql-serializable";
import { StockStore } from "./stock-store";
import type { StockStrategy } from "./types";

/** The clients and settings from which a store node creates its strategies. */
export interface StockDependencies {
  readonly pool: Pool;
  /** Name of the store node. It is written into every order. */
  readonly node: string;
  readonly locks: LockDependencies;
  /** Called in the critical section of a lock holder, so that a fault can act there. */
  readonly failpoints?: Pick<SectionHooks, "beforeWrite" | "inWork">;
}

interface StockEntry {
  /** For a lock with variants: of the variant that the environment selects. */
  readonly traits: StrategyTraits;
  create(store: StockStore, dependencies: StockDependencies): StockStrategy;
}

/** Strategies of one conditional operation, without a lock. */
const atomicEntries: readonly StockEntry[] = [
  { traits: sqlDecrementTraits, create: (store) => new SqlDecrement(store) },
  { traits: sqlGuardedTraits, create: (store) => new SqlGuarded(store) },
  {
    traits: sqlOptimisticTraits,
    create: (store, { locks }) => new SqlOptimistic(store, () => locks.random.fraction()),
  },
  {
    traits: sqlSerializableTraits,
    create: (store, { pool, locks }) => new SqlSerializable({ store, pool, dependencies: locks }),
  },
  {
    traits: sqlBucketsTraits,
    create: (store, { pool, locks }) => new SqlBuckets({ store, pool, random: () => locks.random.fraction() }),
  },
  {
    traits: memcachedCasTraits,
    create: (store, { pool, locks }) =>
      new MemcachedCas({
        store,
        queries: new CounterQueries(pool, memcachedCasTraits.id),
        client: locks.memcached(),
        dependencies: locks,
      }),
  },
];

/** Every lock, around the naive read-modify-write. */
const lockedEntries: readonly StockEntry[] = [...lockEntries.values()].map(({ traits, traitsFor }) => ({
  get traits() {
    return traitsFor?.(parseLockVariants(process.env)) ?? traits;
  },
  create: (store, { locks, failpoints }) => new LockedStock(createLock(traits.id, locks), store, failpoints),
}));

/** Strategies that count the stock in Redis. */
const countedEntries: readonly StockEntry[] = [
  {
    traits: redisWatchTraits,
    create: (store, { pool, locks }) =>
      createRedisWatch({
        store,
        queries: new CounterQueries(pool, redisWatchTraits.id),
        redis: locks.redis(),
        openSession: () => locks.redisSession(),
        random: () => locks.random.fraction(),
      }),
  },
  {
    traits: redisDecrementTraits,
    create: (store, { pool, locks }) =>
      createRedisDecrement({ store, queries: new CounterQueries(pool, redisDecrementTraits.id), redis: locks.redis() }),
  },
];

const familyOrder = strategyFamilies.map(({ id }) => id);

/** Rank within a family, from the least to the most safe: first by the expected verdicts, then by the failures it survives. */
function safetyRank({ expected, ownerless, survives }: StrategyTraits): number {
  const verdicts = [expected.alone === "safe", expected.threeNodes === "safe", !ownerless];
  const survived = Object.values(survives).filter((behavior) => behavior === "survives");
  return 10 * verdicts.filter(Boolean).length + survived.length;
}

const inOrder = [...atomicEntries, ...lockedEntries, ...countedEntries].sort(
  ({ traits: a }, { traits: b }) =>
    familyOrder.indexOf(a.family) - familyOrder.indexOf(b.family) ||
    safetyRank(a) - safetyRank(b) ||
    a.id.localeCompare(b.id),
);

/** Every strategy of the lab by its id, in the order of all lists. */
export const stockStrategies: ReadonlyMap<string, StockEntry> = new Map(
  inOrder.map((entry) => [entry.traits.id, entry]),
);

/** @throws Error that names the valid ids */
export function traitsOf(id: string): StrategyTraits {
  return entryOf(id).traits;
}

/** True if the strategy counts its stock in Redis or Memcached, beside the row in PostgreSQL. */
export function keepsCounter({ kind, family }: StrategyTraits): boolean {
  return kind === "atomic" && family !== "sql";
}

function entryOf(id: string): StockEntry {
  const entry = stockStrategies.get(id);
  if (entry) return entry;
  throw new Error(`There is no strategy "${id}". Choose one of: ${[...stockStrategies.keys()].join(", ")}.`);
}

/** @throws Error for an unknown id, LockError `config_invalid` when a server it needs is not configured */
export function createStockStrategy(id: string, dependencies: StockDependencies): StockStrategy {
  const store = new StockStore(dependencies.pool, dependencies.node);
  return entryOf(id).create(store, dependencies);
}
