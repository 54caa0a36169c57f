import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { env } from "../services/current-env";
import { parseSynchronousCommit } from "../services/env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { formatCount, plural } from "../services/number-text";
import { stockTables } from "../stock/stock-sql";
import type { StockTarget } from "../stock/types";
import { type Expectation, type Fault, type FaultContext, FaultMissed } from "./fault";
import { arrivals } from "./matrix-sale";
import { keptLockExpectation, whyNoProxies } from "./network-fault";
import { orphanedLockMs } from "./orphaned-lock";
import { PG_CLIENT_LINK, PG_PRIMARY, PG_REPLICA, PG_REPLICA_LINK } from "./topologies/pg-replica-names";
import { whyNoTopology } from "./topologies/topology-lease";

const STALL_MS = 500;
/** How long a promotion may take on a busy machine. */
const PROMOTION_MS = 2_000;
/** Slow locks also sell several units while the replica is cut off. The lease outlasts the promotion. */
const MATRIX_SALE = { rate: 30, durationMs: 2_500, faultMs: 1_000, ttlMs: 4_000 };
const POLL_MS = 50;
const ANSWER_LIMIT_MS = 5_000;
const PROMOTION_LIMIT_S = 20;

/**
 * Kills a PostgreSQL primary that has acknowledged orders which its replica does not have. By default PostgreSQL acknowledges a
 * commit when it is on the primary's disk, so a replica that is promoted can lack it.
 */
export const pgFailover: Fault = {
  id: "pg-failover",
  topology: "pg-replica",
  replacesDatabase: true,
  harm: "acknowledged orders are lost",
  does: "Sells on a PostgreSQL with a streaming replica, cuts the replica off while the sale goes on, then kills the primary and promotes the replica, to which the nodes' connections then lead.",
  proof:
    "before the primary's end, how far its write-ahead log was and how much of it the replica had, with the orders that only the primary had and the commits that waited for the replica; after the promotion, pg_is_in_recovery() and the timeline",
  defaultDurationMs: () => STALL_MS,

  whyNotApplicable({ traits: { kind, family } }) {
    return kind === "atomic" && family !== "sql" ? "it counts the stock outside PostgreSQL" : null;
  },
  whyUnavailable: () => whyNoTopology() ?? whyNoProxies(env().STORE_NODES),

  expectationOf(run, durationMs) {
    const commit = parseSynchronousCommit(process.env);
    return commit === "local" ? LOST : synchronousExpectation(run, durationMs);
  },
  matrixSale: (traits) => arrivals(traits, MATRIX_SALE),

  async inject({ topology, target, durationMs, untilDue, closing }) {
    if (!topology) throw new FaultMissed("the run has no topology");
    await untilDue();
    const [primary, replica] = [topology.address(PG_PRIMARY), topology.address(PG_REPLICA)];
    const fromNs = nowNs();
    await topology.cut(PG_REPLICA_LINK);
    await delay(durationMs, undefined, { signal: closing }).catch(() => {});
    const lag = await untilBehind(() => lagOf(primary, replica, target), closing);
    if (lag === null) {
      await topology.restore(PG_REPLICA_LINK);
      throw new FaultMissed("no purchase was committed or waited for the replica while its link was cut");
    }
    await topology.kill(PG_PRIMARY);
    const killedNs = nowNs();
    const promoted = await promote(replica);
    await topology.redirect(PG_CLIENT_LINK, PG_REPLICA);
    const toNs = nowNs();
    const proof = `${lagText(lag)} The primary was killed, and ${Math.round(elapsedMs(killedNs, toNs))} ms later the replica was promoted: ${promoted}.`;
    return { fromNs, toNs, proof, promotedReplica: true };
  },
};

const LOST: Expectation = {
  effect: "unsafe",
  reason:
    "PostgreSQL acknowledges an order before its replica has it, so the promoted replica lacks orders that buyers got.",
};

function synchronousExpectation({ traits, ttlMs }: FaultContext, durationMs: number): Expectation {
  const kept = traits.kind === "lock" ? keptLockExpectation(traits) : null;
  if (kept?.effect === "blocked") return kept;
  if (traits.ownerless && durationMs + PROMOTION_MS > orphanedLockMs(traits, ttlMs)) {
    return {
      effect: "unsafe",
      reason: "The lease is neither renewed nor checked, so it ends while the holder's commit waits for the replica.",
    };
  }
  return {
    effect: "safe",
    reason:
      "With remote_apply, PostgreSQL acknowledges an order only when the replica has it, so the promoted replica has every order that a buyer got.",
  };
}

/** What the primary has and the replica has not. */
interface Lag {
  /** Positions in the write-ahead log. */
  readonly written: string;
  readonly received: string;
  readonly bytes: number;
  readonly orders: number;
  /** Commits that wait for the replica. */
  readonly waiting: number;
}

/** Waits until a purchase shows that the link is cut. @returns null if the load ends before */
async function untilBehind(read: () => Promise<Lag>, closing: AbortSignal): Promise<Lag | null> {
  for (;;) {
    const isLast = closing.aborted;
    const lag = await read();
    if (lag.orders + lag.waiting > 0) return lag;
    if (isLast) return null;
    await delay(POLL_MS);
  }
}

async function lagOf(primary: string, replica: string, { kind, id }: StockTarget): Promise<Lag> {
  const { orders, stockId } = stockTables(kind);
  const count = `(SELECT count(*)::int FROM ${orders} WHERE ${stockId} = ${id}) AS orders`;
  const had = await ask<{ lsn: string; orders: number }>(
    replica,
    `SELECT pg_last_wal_receive_lsn()::text AS lsn, ${count}`,
  );
  const has = await ask<{ lsn: string; orders: number; bytes: number; waiting: number }>(
    primary,
    `SELECT lsn::text, pg_wal_lsn_diff(lsn, '${had.lsn}')::int AS bytes, ${count},
       (SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep') AS waiting
     FROM pg_current_wal_flush_lsn() lsn`,
  );
  const { lsn: written, bytes, waiting } = has;
  // The replica can have the order of a commit that waits for its confirmation, which the primary does not show yet.
  return { written, received: had.lsn, bytes, orders: Math.max(0, has.orders - had.orders), waiting };
}

function lagText({ written, received, bytes, orders, waiting }: Lag): string {
  const only = `${plural(orders, "order")} ${orders === 1 ? "was" : "were"} on the primary only`;
  const waited = `${plural(waiting, "commit")} waited for the replica`;
  return `The primary's log was at ${written} and the replica had it up to ${received}, ${formatCount(bytes)} bytes less: ${only}, and ${waited}.`;
}

/** @returns what the promoted server says of itself @throws FaultMissed if it is no primary */
async function promote(replica: string): Promise<string> {
  await ask(replica, `SELECT pg_promote(true, ${PROMOTION_LIMIT_S})`, (PROMOTION_LIMIT_S + 1) * 1_000);
  const { recovering } = await ask<{ recovering: boolean }>(replica, "SELECT pg_is_in_recovery() AS recovering");
  if (recovering) throw new FaultMissed(`the replica was not promoted within ${PROMOTION_LIMIT_S} s`);
  const { timeline } = await ask<{ timeline: number }>(
    replica,
    "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS timeline",
  );
  return `pg_is_in_recovery() is ${recovering}, on timeline ${timeline}`;
}

/** The first row. @throws FaultMissed if the server does not answer */
async function ask<Row>(url: string, statement: string, limitMs = ANSWER_LIMIT_MS): Promise<Row> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_LIMIT_MS,
    query_timeout: limitMs,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query(statement)).rows[0] as Row;
  } catch (error) {
    throw new FaultMissed(`PostgreSQL did not answer: ${(error as Error).message}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}
