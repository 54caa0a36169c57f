import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { applyMigrations } from "../../lib/services/migrations";
import { seed } from "../../prisma/seed";

/** Ids of one lane never reach those of the next: locks and counters outside PostgreSQL are named after them. */
const IDS_PER_LANE = 100_000_000;

/** First key of the advisory locks that claim lanes. */
const LANE_LOCKS = 7_243;
const CLAIM_LIMIT_MS = 10_000;
const CLAIM_POLL_MS = 20;

/**
 * A fresh database for test files that run beside others: what a test does to all orders or runs stays in its lane.
 * @param server the URL of a database on the server
 * @param lane from 1
 * @returns the URL of the lane's database, with tables and seed
 */
export async function createLaneDatabase(server: string, lane: number): Promise<string> {
  const url = laneUrl(server, lane);
  const name = pg.escapeIdentifier(url.pathname.slice(1));
  await onDatabase(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, `CREATE DATABASE ${name}`);
  await applyMigrations(url.href);
  const restarts = ["products", "coupons", "orders"].map(
    (table) => `SELECT setval(pg_get_serial_sequence('${table}', 'id'), ${lane * IDS_PER_LANE})`,
  );
  await onDatabase(url.href, ...restarts);
  await seed(url.href);
  return url.href;
}

function laneUrl(server: string, lane: number): URL {
  const url = new URL(server);
  url.pathname = `${url.pathname}_lane_${lane}`;
  return url;
}

/**
 * Claims the database of a lane for this process until it exits.
 * @param server the URL that `createLaneDatabase` got
 * @param lanes number of lanes, and of processes that claim one
 * @returns the URL of the lane's database
 * @throws Error if no lane becomes free: another process has not exited
 */
export async function claimLaneDatabase(server: string, lanes: number): Promise<string> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const deadlineMs = performance.now() + CLAIM_LIMIT_MS;
  for (;;) {
    for (let lane = 1; lane <= lanes; lane += 1) {
      const claim = await client.query("SELECT pg_try_advisory_lock($1, $2) AS is_mine", [LANE_LOCKS, lane]);
      if (!(claim.rows[0] as { is_mine: boolean }).is_mine) continue;
      // The connection holds the claim, and PostgreSQL ends both when the process exits.
      (client as unknown as { unref(): void }).unref();
      return laneUrl(server, lane).href;
    }
    if (performance.now() > deadlineMs) throw new Error(`none of ${lanes} test databases became free in 10 s`);
    // A process has exited, but PostgreSQL may not have closed its session yet.
    await sleep(CLAIM_POLL_MS);
  }
}

async function onDatabase(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
