import { setTimeout as delay } from "node:timers/promises";
import type { PoolClient } from "pg";
import { LONGEST_PAUSE_MS } from "../node/node-stops";
import { elapsedMs, nowNs } from "../services/monotonic";
import { durationText, plural } from "../services/number-text";
import { postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import { type Expectation, type Fault, type FaultContext, FaultMissed, type Injection } from "./fault";
import { arrivals } from "./matrix-sale";
import { orphanedLockMs } from "./orphaned-lock";

/** A statement always gets two seconds. A lease that is not renewed ends before the stall. */
const SHORTEST_MS = 5_000;
const BEYOND_LEASE_MS = 2_000;
const POLL_MS = 50;
/** PostgreSQL ends the stall itself this long after its time, also if the lab dies. */
const MARGIN_MS = 2_000;

/**
 * The writes of the sale wait in PostgreSQL for longer than their clients do, as on a stalled disk. A lock that is released while
 * its holder's write is still waiting lets the next holder's write be overwritten.
 */
export const pgStall: Fault = {
  id: "pg-stall",
  does: "Makes PostgreSQL's writes of the sale wait (a transaction of the lab locks the run's row) for longer than their clients wait for them.",
  proof:
    "the run's writes that waited for the lab's transaction (pg_blocking_pids), and the longest wait; a purchase was answered without a unit before the stall ended",
  defaultDurationMs: ({ ttlMs }) => Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_MS, ttlMs + BEYOND_LEASE_MS)),
  whyNotApplicable({ traits }) {
    if (traits.kind === "lock" || traits.family === "sql") return null;
    return "it counts the stock outside PostgreSQL, and the units of writes that were given up return after the run";
  },

  expectationOf,
  matrixSale: (traits) => arrivals(traits, { rate: 20, durationMs: 5_500, waitTimeoutMs: 2_000, faultMs: 4_000 }),

  async inject(injection) {
    await injection.untilDue();
    const client = await postgresPool().connect();
    try {
      return await stall(client, injection);
    } finally {
      // Closing the connection ends the transaction.
      client.release(true);
    }
  },

  whyUnproven({ ops }, { fromNs, toNs }) {
    const isInTime = ops.some(({ outcome, answeredNs, clock }) => {
      const at = answeredNs === undefined ? null : BigInt(Math.round(answeredNs)) + clock.originNs;
      return outcome !== "sold" && at !== null && at > fromNs && at < toNs;
    });
    return isInTime
      ? null
      : "no purchase reached its limit during the stall; choose a longer fault or a shorter wait (--wait-timeout-ms 2500)";
  },
};

function expectationOf({ traits, ttlMs }: FaultContext, durationMs: number): Expectation {
  if (traits.kind === "atomic") {
    return {
      effect: "safe",
      reason: "The condition is part of the write, so a write that takes effect late still sells only what is left.",
    };
  }
  if (traits.ownerless && durationMs > orphanedLockMs(traits, ttlMs)) {
    return {
      effect: "unsafe",
      reason: "The lease is neither renewed nor checked, so it ends while the holder's write still waits.",
    };
  }
  return {
    effect: "safe",
    reason:
      "A holder cancels the write that takes too long, and releases its lock only when the write's end is known or its lease has run out.",
  };
}

async function stall(client: PoolClient, { target, durationMs, nodeNames, closing }: Injection) {
  const { stock } = stockTables(target.kind);
  await client.query("BEGIN");
  await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${Math.round(durationMs) + MARGIN_MS}`);
  await client.query(`SELECT FROM ${stock} WHERE id = $1 FOR UPDATE`, [target.id]);
  await client.query("SELECT FROM stock_buckets WHERE kind = $1 AND target_id = $2 FOR UPDATE", [
    target.kind,
    target.id,
  ]);
  const fromNs = nowNs();
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
  /** Milliseconds by connection and start of the statement. */
  const waits = new Map<string, number>();
  while (elapsedMs(fromNs) < durationMs && !closing.aborted) {
    for (const { pid, at, ms } of await waitingFor(rows[0]?.pid, nodeNames)) waits.set(`${pid} ${at}`, ms);
    await delay(POLL_MS);
  }
  await client.query("ROLLBACK");
  const toNs = nowNs();
  if (waits.size === 0) throw new FaultMissed("no write of the run's nodes waited while it lasted");
  const longest = durationText(Math.max(...waits.values()));
  const proof = `PostgreSQL held back ${plural(waits.size, "statement")} of the run's nodes for ${durationText(elapsedMs(fromNs, toNs))}; the longest wait was ${longest}.`;
  return { fromNs, toNs, proof };
}

interface Waiting {
  readonly pid: number;
  readonly at: string;
  readonly ms: number;
}

async function waitingFor(blocker: number, nodeNames: readonly string[]): Promise<readonly Waiting[]> {
  const { rows } = await postgresPool().query(
    `SELECT pid, query_start::text AS at, (extract(epoch FROM clock_timestamp() - query_start) * 1000)::float8 AS ms
     FROM pg_stat_activity
     WHERE $1::int = ANY (pg_blocking_pids(pid)) AND application_name LIKE 'flash-sale-lab %'
       AND split_part(application_name, ' ', 2) = ANY ($2::text[])`,
    [blocker, nodeNames],
  );
  return rows as Waiting[];
}
