import { setTimeout as delay } from "node:timers/promises";
import { advisoryKeyOf } from "../locks/postgres/resource-hash";
import { elapsedMs, nowNs } from "../services/monotonic";
import { postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import { resourceOf } from "../stock/types";
import { type Fault, type FaultEvent, FaultMissed, type Injection } from "./fault";

/** A statement that nobody waits for is over within a millisecond or two. */
const LOOK_EVERY_MS = 3;
/** How long a backend may take to end once it was told to. */
const END_LIMIT_MS = 5_000;

/**
 * The server ends the connection of whoever holds the row, or is about to change it. What a transaction held is free at
 * once, what it wrote is undone; whose COMMIT was on its way does not learn which of the two.
 */
export const pgDisconnect: Fault = {
  id: "pg-disconnect",
  does: "Ends the PostgreSQL connection (pg_terminate_backend) of the node that holds the row or its lock.",
  proof: "which node's connections were ended, and what they held in pg_locks; pg_stat_activity no longer has them",
  defaultDurationMs: () => null,
  // All strategies sell through PostgreSQL.
  reasonAgainst: () => null,
  expectedEffectOf: () => "holds",

  async inject(injection) {
    await injection.untilDue();
    for (;;) {
      if (injection.closing.aborted) throw new FaultMissed("the load was over before anybody was seen to hold the row");
      const fromNs = nowNs();
      const ended = await endHolders(injection);
      if (ended.length > 0) return eventOf(fromNs, ended);
      await delay(LOOK_EVERY_MS);
    }
  },
};

interface EndedBackend {
  readonly pid: number;
  readonly node: string;
  readonly state: string;
  readonly held: readonly string[];
  /** False: it had ended by itself. */
  readonly told: boolean;
}

/**
 * Only backends of the run's own nodes, by the name their pools give themselves, in the lab's own database; only those that hold
 * more than a reader's lock on the tables of the sale, or the resource's advisory lock, and do not wait for anybody else.
 * $1 nodes, $2 the tables, $3 the advisory key, $4 whether only those that are in the middle of a transaction.
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
  SELECT pid, node, state, held, pg_terminate_backend(pid) AS told FROM holders`;

async function endHolders({ nodeNames, target, traits }: Injection): Promise<EndedBackend[]> {
  const { stock, orders } = stockTables(target.kind);
  const key = advisoryKeyOf(resourceOf(target));
  // A lock there is held while its holder works, between two statements: at its commit it would hardly be missed.
  const holdsBetweenStatements = traits.family === "sql" && traits.kind === "lock";
  const values = [nodeNames, [stock, orders], String(key), holdsBetweenStatements];
  const result = await postgresPool().query(END_HOLDERS, values);
  return (result.rows as EndedBackend[]).filter(({ told }) => told);
}

async function eventOf(fromNs: bigint, ended: readonly EndedBackend[]): Promise<FaultEvent> {
  const pids = ended.map(({ pid }) => pid);
  while (await areThere(pids)) {
    if (elapsedMs(fromNs) > END_LIMIT_MS) throw new FaultMissed("the connections were told to end and did not");
    await delay(LOOK_EVERY_MS);
  }
  const said = ended.map(
    ({ node, held, state }) => `a connection of ${node} that held ${held.join(" and ")} (${state})`,
  );
  return {
    fromNs,
    toNs: nowNs(),
    proof: `PostgreSQL ended ${said.join(", and ")}; connections ended: ${ended.length}.`,
  };
}

async function areThere(pids: readonly number[]): Promise<boolean> {
  const result = await postgresPool().query("SELECT FROM pg_stat_activity WHERE pid = ANY ($1::int[])", [pids]);
  return (result.rowCount ?? 0) > 0;
}
