import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient } from "../../generated/prisma/client";
import { env } from "./current-env";
import { log } from "./log";
import { processSingleton } from "./singleton";

/**
 * The one pool of this process. Hot statements go through it as prepared statements; Prisma, for all that is not hot,
 * shares it through its adapter (docs/decisions/001-prisma-beside-pg.md).
 */
export function postgresPool(): pg.Pool {
  return processSingleton("postgres.pool", () => openPostgresPool({ max: env().PG_POOL_SIZE, use: "" }));
}

/** A pool of its own for what must not share the process's; whoever opens it ends it. `use` shows in pg_stat_activity. */
export function openPostgresPool({ max, use }: { readonly max: number; readonly use: string }): pg.Pool {
  const pool = new pg.Pool({
    connectionString: env().DATABASE_URL,
    max,
    // A lost server must answer 503 within the wait limit, not hang.
    connectionTimeoutMillis: Math.max(env().WAIT_TIMEOUT_MS, 1_000),
    query_timeout: 15_000,
    keepAlive: true,
    application_name: `flash-sale-lab ${env().STORE_NODE} ${use}`.trim(),
  });
  // An idle connection that the server closes is not an error of any request; the pool replaces it.
  pool.on("error", (error) => log().warn({ server: "postgres", reason: error.message }, "idle connection lost"));
  // One in use tells its user by the statement that fails; its event, with nobody listening, would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export function prisma(): PrismaClient {
  return processSingleton("postgres.prisma", () => new PrismaClient({ adapter: new PrismaPg(postgresPool()) }));
}
