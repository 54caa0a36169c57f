import { setTimeout as delay } from "node:timers/promises";
import { advisoryKeyOf } from "../locks/postgres/resource-hash";
import { elapsedMs, nowNs } from "../services/monotonic";
import { postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import { resourceOf } from "../stock/types";
import { type Fault, type FaultEvent, FaultMissed, type Injection } from "./fault";

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
  proof: "which node's connections ended and which locks they held in pg_locks; pg_stat_activity no longer lists them",
  defaultDurationMs: () => null,
  // All strategies sell through PostgreSQL.
  whyNotApplicable: () => null,
  expectedEffectOf: () => "safe",

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
 * only those that hold the resource's advisory lock, or more than a reader's lock on the tables of the sale, and wait for
 * no other lock. $1 nodes, $2 tables, $3 advisory key, $4 true: only backends in the middle of a transaction.
 */
const END_HOLDERS = `
  WITH holders AS MATERIALIZED (
    SELECT a.pid, split_part(a.application_name, ' ', 2) AS node, a.state,
      array_agg(DISTINCT l.mode || coalesce(' on ' || l.relation::regclass::text, ' (advisory)')) AS held
    FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
      AND a.application_name LIKE 'flash-sale-lab %' AND split_part(a.application_name, ' ', 2) = ANY ($1::text[])
      AND (a.state = 'idle in transaction' OR NOT $4::boolean)
      AND l.granted AND (
        (l.locktype = 'relation' AND l.relation = ANY ($2::regclass[]) AND l.mode <> 'AccessShareLock')
        OR (l.locktype = 'advisory' AND ((l.classid::bigint << 32) | l.objid::bigint) = $3::bigint))
      AND NOT EXISTS (SELECT FROM pg_locks w WHERE w.pid = a.pid AND NOT w.granted)
    GROUP BY a.pid, node, a.state)
  SELECT pid, node, state, held, pg_terminate_backend(pid) AS signalled FROM holders`;

async function endHolders({ nodeNames, target, traits }: Injection): Promise<EndedBackend[]> {
  const { stock, orders } = stockTables(target.kind);
  const key = advisoryKeyOf(resourceOf(target));
  // A SQL lock is held between statements while its holder works. Ending it during COMMIT would hardly have an effect.
  const holdsBetweenStatements = traits.family === "sql" && traits.kind === "lock";
  const values = [nodeNames, [stock, orders], String(key), holdsBetweenStatements];
  const result = await postgresPool().query(END_HOLDERS, values);
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
