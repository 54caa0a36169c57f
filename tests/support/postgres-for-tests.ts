import { createHash } from "node:crypto";
import pg from "pg";
import type { PostgresForLocks } from "../../lib/locks/postgres/pg-port";
import { lockableRow } from "../../lib/node/postgres-for-locks";
import { requireEnv } from "./lab-env";

/** Rows for resources that are not products or coupons; enough that two resources of a test rarely share one. */
const TEST_ROWS = 4_096;
/** Only reads if the rows exist, so a lock on the table does not block it. */
const makeTestRows = (table: string) => `DO $$ BEGIN
  IF to_regclass('${table}') IS NULL THEN
    PERFORM pg_advisory_xact_lock(7242);
    CREATE TABLE IF NOT EXISTS ${table} (id int PRIMARY KEY);
    INSERT INTO ${table} SELECT generate_series(0, ${TEST_ROWS - 1}) ON CONFLICT DO NOTHING;
  END IF;
END $$`;

export interface TestPostgres extends PostgresForLocks, AsyncDisposable {
  readonly pool: pg.Pool;
  /** The name in pg_stat_activity. */
  readonly applicationName: string;
}

export type TestPostgresOptions = Pick<PostgresForLocks, "rowLock" | "advisory"> & {
  readonly databaseUrl?: string;
  readonly poolSize?: number;
  /** A separate table, for tests that lock the whole table while other tests run. */
  readonly rowsTable?: string;
};

let opened = 0;

/** Separate pools for a test, created at first use. Every resource has a row: products and coupons their own, others one by hash. */
export function openTestPostgres(options: TestPostgresOptions = {}): TestPostgres {
  opened += 1;
  const { rowsTable = "test_lock_rows" } = options;
  const applicationName = `lock-test-${process.pid}-${opened}`;
  const pools = new Map<string, pg.Pool>();
  const open = (use: string, onConnect?: (client: pg.ClientBase) => Promise<unknown>) => {
    const known = pools.get(use);
    if (known) return known;
    requireEnv("DATABASE_URL");
    const pool = new pg.Pool({
      connectionString: options.databaseUrl ?? process.env.DATABASE_URL,
      max: options.poolSize ?? 8,
      connectionTimeoutMillis: 10_000,
      application_name: applicationName,
      ...(onConnect ? { onConnect } : {}),
    });
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    pools.set(use, pool);
    return pool;
  };
  let tableMade: Promise<unknown> | null = null;
  const makeTable = (client: pg.ClientBase) => {
    tableMade ??= client.query(makeTestRows(rowsTable));
    return tableMade;
  };
  return {
    ...options,
    applicationName,
    get pool() {
      return open("work", makeTable);
    },
    sessionPool: () => open("sessions"),
    rowOf: (resource) => lockableRow(resource) ?? { table: rowsTable, id: hashedId(resource) },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}

function hashedId(resource: string): number {
  return createHash("sha256").update(resource).digest().readUInt32BE(0) % TEST_ROWS;
}
