import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient } from "../../generated/prisma/client";
import { env } from "./current-env";
import { log } from "./log";
import { processSingleton } from "./singleton";

/**
 * The connection pool of this process. Hot statements use it directly as prepared statements; Prisma uses it through its
 * adapter for everything else, because its per-query cost would dominate a purchase.
 */
export function postgresPool(): pg.Pool {
  return processSingleton("postgres.pool", () => openPostgresPool({ max: env().PG_POOL_SIZE, use: "" }));
}

/**
 * Above every limit of a client. PostgreSQL itself ends a statement whose client is lost, so that its write cannot take effect
 * minutes later. Sent when a connection opens, so it costs no round trip.
 */
const SERVER_STATEMENT_LIMIT_MS = 65_000;

export interface PoolOptions {
  readonly max: number;
  /** Visible in pg_stat_activity. */
  readonly use: string;
  /** Absent: the lab's database at its configured address. */
  readonly url?: string;
  /** Absent: the loss of an idle connection is logged. */
  readonly onIdleLoss?: (error: Error) => void;
}

/** A separate pool, which the caller must end. */
export function openPostgresPool({ max, use, url, onIdleLoss = logIdleLoss }: PoolOptions): pg.Pool {
  const connectionString = url ?? env().DATABASE_URL;
  const pool = new pg.Pool({
    ...(isPooled(connectionString) ? { Client: UnpreparedClient } : {}),
    connectionString,
    max,
    // If the server is lost, a request must fail with 503 within the wait limit.
    connectionTimeoutMillis: Math.max(env().WAIT_TIMEOUT_MS, 1_000),
    query_timeout: 15_000,
    statement_timeout: SERVER_STATEMENT_LIMIT_MS,
    keepAlive: true,
    application_name: `flash-sale-lab ${env().STORE_NODE} ${use}`.trim(),
  });
  // The pool replaces an idle connection that the server closed; no request fails.
  pool.on("error", onIdleLoss);
  // For a connection in use, the failing statement reports the loss. Without a listener the event would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** PgBouncer gives each transaction another server connection, which does not know the statements that were prepared before. */
function isPooled(url: string): boolean {
  return URL.canParse(url) && new URL(url).searchParams.get("pgbouncer") === "true";
}

/** Sends statements without their name, so that PostgreSQL parses each in the message that executes it. */
class UnpreparedClient extends pg.Client {
  override query(...[statement, ...rest]: unknown[]): never {
    const query = super.query as (...args: unknown[]) => never;
    return query.call(this, withoutName(statement), ...rest);
  }
}

function withoutName(statement: unknown): unknown {
  const isConfig =
    typeof statement === "object" && statement !== null && "name" in statement && !("submit" in statement);
  return isConfig ? { ...statement, name: undefined } : statement;
}

function logIdleLoss(error: Error): void {
  log().warn({ server: "postgres", reason: error.message }, "idle connection lost");
}

export function prisma(): PrismaClient {
  return processSingleton("postgres.prisma", () => new PrismaClient({ adapter: new PrismaPg(postgresPool()) }));
}
