import { setTimeout as delay } from "node:timers/promises";
import { advisoryKeyOf } from "../locks/postgres/resource-hash";
import { elapsedMs, nowNs } from "../services/monotonic";
import { postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import { resourceOf } from "../stock/types";
import { type Fault, type FaultEvent, FaultMissed, type Injection } from "./fault";
import { arrivals, crowd } from "./matrix-sale";

/** A statement without contention takes a millisecond or two. */
const POLL_MS = 3;
/** How long a backend may take to end after pg_terminate_backend. */
const END_LIMIT_MS = 5_000;

/**
 * Ends the connection that holds the row or is about to change it. Its transaction rolls back and its locks are free at
 * once. A purchase whose COMMIT was in flight does not find out whether it took effect.
 */
export const pgDisconnect: Fault = {
  id: "pg-disconnect",
  does: "Ends the PostgreSQL connection (pg_terminate_backend) of the node that holds the row or its lock.",
  proof:
    "which node's connections ended and how they held the run's row or its lock (xmax of the row, pg_locks); pg_stat_activity no longer lists them",
  defaultDurationMs: () => null,
  // All strategies sell through PostgreSQL.
  whyNotApplicable: () => null,
  expectationOf: ({ traits }) => ({
    effect: "safe",
    reason:
      traits.family === "sql" && traits.kind === "lock"
        ? "The lock and the write belong to one connection, so both end with it."
        : "PostgreSQL stores the whole write or nothing of it, and its buyer gets an error or no outcome.",
  }),
  // Without a lock, a crowd is served before the fault begins, and a purchase changes the row for a moment only.
  matrixSale: (traits) =>
    traits.kind === "lock" ? crowd(traits, { faultAtMs: 50 }) : arrivals(traits, { rate: 300, faultAtMs: 100 }),

  async inject(injection) {
    await injection.untilDue();
    for (;;) {
      if (injection.closing.aborted) throw new FaultMissed("the load ended before any connection held the row");
      const fromNs = nowNs();
      const ended = await endHolders(injection);
      if (ended.length > 0) return eventOf(fromNs, ended);
      await delay(POLL_MS);
    }
  },
};

interface EndedBackend {
  readonly pid: number;
  readonly node: string;
  readonly state: string;
  readonly held: readonly string[];
  /** False if it ended before the signal. */
  readonly signalled: boolean;
}

/**
 * Ends only backends of the run's own nodes (by the application name of their pools) in the lab's own database, and of these
 * only the holders of the run's resource: the transaction that locked or changed its row (`xmax` of the row, or of one of its
 * buckets), a session with its advisory lock, or one that has locked the whole table. A lock that any purchase of another
 * product takes proves nothing. Backends that wait for a lock are not holders.
 * $1 nodes, $2 stock table, $3 advisory key, $4 true: only backends that execute no statement, $5 id, $6 kind.
 */
const endHoldersOf = (stock: string): string => `
  WITH lockers AS MATERIALIZED (
    SELECT xmax AS xid FROM ${stock} WHERE id = $5::int
    UNION SELECT xmax FROM stock_buckets WHERE kind = $6::text AND target_id = $5::int),
  held AS (
    SELECT pid, 'its row in ${stock}' AS what FROM pg_stat_activity WHERE backend_xid IN (SELECT xid FROM lockers)
    UNION ALL
    SELECT pid, CASE locktype WHEN 'advisory' THEN 'its advisory lock' ELSE 'a lock on the table ${stock}' END FROM pg_locks
    WHERE granted AND (
      (locktype = 'advisory' AND ((classid::bigint << 32) | objid::bigint) = $3::bigint)
      OR (locktype = 'relation' AND relation = $2::regclass
        AND mode IN ('ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')))),
  holders AS MATERIALIZED (
    SELECT a.pid, split_part(a.application_name, ' ', 2) AS node, a.state, array_agg(DISTINCT h.what) AS held
    FROM pg_stat_activity a JOIN held h USING (pid)
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
      AND a.application_name LIKE 'flash-sale-lab %' AND split_part(a.application_name, ' ', 2) = ANY ($1::text[])
      AND (a.state IN ('idle', 'idle in transaction') OR NOT $4::boolean)
      AND NOT EXISTS (SELECT FROM pg_locks w WHERE w.pid = a.pid AND NOT w.granted)
    GROUP BY a.pid, node, a.state)
  SELECT pid, node, state, held, pg_terminate_backend(pid) AS signalled FROM holders`;

async function endHolders({ nodeNames, target, traits }: Injection): Promise<EndedBackend[]> {
  const { stock } = stockTables(target.kind);
  const key = advisoryKeyOf(resourceOf(target));
  // A SQL lock is held between statements while its holder works. Ending it during COMMIT would hardly have an effect.
  const holdsBetweenStatements = traits.family === "sql" && traits.kind === "lock";
  const values = [nodeNames, stock, String(key), holdsBetweenStatements, target.id, target.kind];
  const result = await postgresPool().query(endHoldersOf(stock), values);
  return (result.rows as EndedBackend[]).filter(({ signalled }) => signalled);
}

async function eventOf(fromNs: bigint, ended: readonly EndedBackend[]): Promise<FaultEvent> {
  const pids = ended.map(({ pid }) => pid);
  while (await anyExists(pids)) {
    if (elapsedMs(fromNs) > END_LIMIT_MS) {
      throw new FaultMissed(`the connections did not end within ${END_LIMIT_MS / 1_000} s of pg_terminate_backend`);
    }
    await delay(POLL_MS);
  }
  const connections = ended.map(
    ({ node, held, state }) => `a connection of ${node} that held ${held.join(" and ")} (${state})`,
  );
  return {
    fromNs,
    toNs: nowNs(),
    proof: `PostgreSQL ended ${connections.join(", and ")}; connections ended: ${ended.length}.`,
  };
}

async function anyExists(pids: readonly number[]): Promise<boolean> {
  const result = await postgresPool().query("SELECT FROM pg_stat_activity WHERE pid = ANY ($1::int[])", [pids]);
  return (result.rowCount ?? 0) > 0;
}
