import type { Pool } from "pg";
import { strategyFamilies } from "../../servers/families";
import { createLock, type LockDependencies, lockEntries } from "../locks/create-lock";
import type { StrategyTraits } from "../locks/types";
import { CounterQueries } from "./counter-queries";
import type { Failpoint } from "./failpoint";
import { LockedStock } from "./locked-stock";
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

/** What the strategies of a store node are made of. */
export interface StockDependencies {
  readonly pool: Pool;
  /** The store node's name, written into its orders. */
  readonly node: string;
  readonly locks: LockDependencies;
  /** Where the lab stops a holder; absent: nobody is ever stopped. */
  readonly beforeWrite?: Failpoint | undefined;
}

interface StockEntry {
  readonly traits: StrategyTraits;
  create(store: StockStore, dependencies: StockDependencies): StockStrategy;
}

/** Strategies that are one conditional operation, and need no lock. */
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
        random: () => locks.random.fraction(),
      }),
  },
];

/** Every lock, put round the naive read-modify-write. */
const lockedEntries: readonly StockEntry[] = [...lockEntries.values()].map(({ traits }) => ({
  traits,
  create: (store, { locks, beforeWrite }) =>
    new LockedStock(createLock(traits.id, locks), store, beforeWrite && { beforeWrite }),
}));

/** Strategies that count the stock outside of PostgreSQL. */
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

/** From what breaks under most to what holds under most: by what the strategy promises, and what it survives. */
function promises({ expected, ownerless, survives }: StrategyTraits): number {
  const kept = [expected.alone === "safe", expected.threeNodes === "safe", !ownerless];
  const survived = Object.values(survives).filter((fate) => fate === "survives");
  return 10 * kept.filter(Boolean).length + survived.length;
}

const inOrder = [...atomicEntries, ...lockedEntries, ...countedEntries].sort(
  ({ traits: a }, { traits: b }) =>
    familyOrder.indexOf(a.family) - familyOrder.indexOf(b.family) ||
    promises(a) - promises(b) ||
    a.id.localeCompare(b.id),
);

/** Every strategy of the lab, id to traits and factory. */
export const stockStrategies: ReadonlyMap<string, StockEntry> = new Map(
  inOrder.map((entry) => [entry.traits.id, entry]),
);

/** @throws Error that names the valid ids */
export function traitsOf(id: string): StrategyTraits {
  const entry = stockStrategies.get(id);
  if (entry) return entry.traits;
  throw new Error(`There is no strategy "${id}"; valid ids: ${[...stockStrategies.keys()].join(", ")}.`);
}

/** @throws Error for an unknown id, LockError `config_invalid` when a server it needs is not configured */
export function createStockStrategy(id: string, dependencies: StockDependencies): StockStrategy {
  traitsOf(id);
  const store = new StockStore(dependencies.pool, dependencies.node);
  // traitsOf has made sure that the entry is there.
  return (stockStrategies.get(id) as StockEntry).create(store, dependencies);
}
