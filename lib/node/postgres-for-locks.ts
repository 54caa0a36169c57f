import type { Pool } from "pg";
import type { LockableRow, PostgresForLocks } from "../locks/postgres/pg-port";
import { env } from "../services/current-env";
import { openPostgresPool, postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import type { StockTarget } from "../stock/types";

/** Enough for one node's share of a queue; the rest of it waits in the pool. */
const SESSION_POOL_SIZE = 8;
const RESOURCE = /^(product|coupon):([1-9][0-9]{0,9})$/;

/** The lab's database as its locks see it. `opened` collects how to end what is opened here. */
export function postgresForLocks(opened: (() => Promise<void>)[]): PostgresForLocks {
  const { SQL_ROW_LOCK, SQL_ADVISORY } = env();
  let sessions: Pool | null = null;
  return {
    get pool() {
      return postgresPool();
    },
    sessionPool: () => {
      if (!sessions) {
        const pool = openPostgresPool({ max: SESSION_POOL_SIZE, use: "lock sessions" });
        opened.push(() => pool.end());
        sessions = pool;
      }
      return sessions;
    },
    rowOf: lockableRow,
    rowLock: SQL_ROW_LOCK,
    advisory: SQL_ADVISORY,
  };
}

/** The target of `resourceOf(target)`; null for a resource that stands for none. */
export function targetOf(resource: string): StockTarget | null {
  const [, kind, id] = RESOURCE.exec(resource) ?? [];
  return kind === "product" || kind === "coupon" ? { kind, id: Number(id) } : null;
}

/** The row of `resourceOf(target)`. */
export function lockableRow(resource: string): LockableRow | null {
  const target = targetOf(resource);
  return target && { table: stockTables(target.kind).stock, id: target.id };
}
