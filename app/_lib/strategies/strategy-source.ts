import type { StrategyTraits } from "@/lib/locks/types";

/** Where a strategy is implemented, and the text that it follows: the `@see` of its file. */
export interface StrategySource {
  /** Path in the repository. */
  readonly file: string;
  readonly reference: { readonly title: string; readonly url: string } | null;
}

const POSTGRES = "https://www.postgresql.org/docs/current/";
const REDIS = "https://redis.io/docs/latest/";
const ZOOKEEPER = "https://zookeeper.apache.org/doc/current/";

const SETNX = { title: "SETNX, Redis documentation", url: `${REDIS}commands/setnx/` };
const READ_COMMITTED = {
  title: "Read Committed, PostgreSQL documentation",
  url: `${POSTGRES}transaction-iso.html#XACT-READ-COMMITTED`,
};
const MEMCACHED_PROTOCOL = {
  title: "Memcached's protocol",
  url: "https://github.com/memcached/memcached/blob/master/doc/protocol.txt",
};
const ZOOKEEPER_LOCKS = { title: "Locks, ZooKeeper recipes", url: `${ZOOKEEPER}recipes.html#sc_recipes_Locks` };

const REFERENCES: Readonly<Record<string, StrategySource["reference"]>> = {
  none: { title: "Race condition, Wikipedia", url: "https://en.wikipedia.org/wiki/Race_condition" },
  "local-mutex": {
    title: "Lock, Wikipedia",
    url: "https://en.wikipedia.org/wiki/Lock_(computer_science)",
  },
  "sql-decrement": READ_COMMITTED,
  "sql-guarded": READ_COMMITTED,
  "sql-advisory": {
    title: "Advisory locks, PostgreSQL documentation",
    url: `${POSTGRES}explicit-locking.html#ADVISORY-LOCKS`,
  },
  "sql-row-lock": {
    title: "Row-level locks, PostgreSQL documentation",
    url: `${POSTGRES}explicit-locking.html#LOCKING-ROWS`,
  },
  "sql-table-lock": {
    title: "Table-level locks, PostgreSQL documentation",
    url: `${POSTGRES}explicit-locking.html#LOCKING-TABLES`,
  },
  "sql-buckets": {
    title: "FOR UPDATE and SKIP LOCKED, PostgreSQL documentation",
    url: `${POSTGRES}sql-select.html#SQL-FOR-UPDATE-SHARE`,
  },
  "sql-optimistic": { title: "Concurrency control, PostgreSQL documentation", url: `${POSTGRES}mvcc-intro.html` },
  "sql-serializable": {
    title: "Serializable isolation, PostgreSQL documentation",
    url: `${POSTGRES}transaction-iso.html#XACT-SERIALIZABLE`,
  },
  "redis-setnx": SETNX,
  "redis-setnx-expire": SETNX,
  "redis-setnx-script": SETNX,
  "redis-setnx-getset": {
    title: "Handling deadlocks with SETNX, Redis documentation",
    url: `${REDIS}commands/setnx/#handling-deadlocks`,
  },
  "redis-getset": { title: "GETSET, Redis documentation", url: `${REDIS}commands/getset/` },
  "redis-set-px": { title: "SET, Redis documentation", url: `${REDIS}commands/set/` },
  "redis-lock": { title: "Locks with SET, Redis documentation", url: `${REDIS}commands/set/#patterns` },
  "redis-reentrant": {
    title: "Locks and synchronizers, Redisson documentation",
    url: "https://redisson.pro/docs/data-and-services/locks-and-synchronizers/",
  },
  "redis-fenced": {
    title: "Martin Kleppmann: How to do distributed locking (2016)",
    url: "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html",
  },
  "redis-decrement": { title: "Lua scripts, Redis documentation", url: `${REDIS}develop/programmability/eval-intro/` },
  "redis-watch": { title: "Transactions, Redis documentation", url: `${REDIS}develop/using-commands/transactions/` },
  redlock: {
    title: "Distributed locks with Redis, Redis documentation",
    url: `${REDIS}develop/use/patterns/distributed-locks/`,
  },
  "memcached-add": MEMCACHED_PROTOCOL,
  "memcached-cas": MEMCACHED_PROTOCOL,
  "zk-exclusive": ZOOKEEPER_LOCKS,
  "zk-mutex": ZOOKEEPER_LOCKS,
  "zk-fenced": {
    title: "Time in ZooKeeper, ZooKeeper documentation",
    url: `${ZOOKEEPER}zookeeperProgrammers.html#sc_timeInZk`,
  },
  "etcd-lock": {
    title: "The mutex of etcd's Go client",
    url: "https://github.com/etcd-io/etcd/blob/main/client/v3/concurrency/mutex.go",
  },
};

export function sourceOf({ id, family, kind }: Pick<StrategyTraits, "id" | "family" | "kind">): StrategySource {
  const folder = kind === "atomic" ? "lib/stock" : `lib/locks/${family === "sql" ? "postgres" : family}`;
  return { file: `${folder}/${id}.ts`, reference: REFERENCES[id] ?? null };
}
