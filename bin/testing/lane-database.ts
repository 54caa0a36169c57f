import pg from "pg";
import { applyMigrations } from "../../lib/services/migrations";
import { seed } from "../../prisma/seed";

/** Ids of one lane never reach those of the next: locks and counters outside PostgreSQL are named after them. */
const IDS_PER_LANE = 100_000_000;

/**
 * A fresh database for test files that run beside others: what a test does to all orders or runs stays in its lane.
 * @param server the URL of a database on the server
 * @param lane from 1
 * @returns the URL of the lane's database, with tables and seed
 */
export async function createLaneDatabase(server: string, lane: number): Promise<string> {
  const url = new URL(server);
  url.pathname = `${url.pathname}_lane_${lane}`;
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

async function onDatabase(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
