import type { Pool } from "pg";
import type { LockableRow, PostgresForLocks } from "../locks/postgres/pg-port";
import { env } from "../services/current-env";
import { stockTables } from "../stock/stock-sql";
import type { StockTarget } from "../stock/types";
import type { LockClientSettings } from "./lock-clients";

/** Sessions for locks per node. Further lock requests queue for a pooled connection. */
const SESSION_POOL_SIZE = 8;
const RESOURCE = /^(product|coupon):([1-9][0-9]{0,9})$/;

/** The lab's database, as the locks' port. Adds to `closers` a function for each pool that it opens. */
export function postgresForLocks(
  closers: (() => Promise<void>)[],
  { pool: purchases, openSessions }: Pick<LockClientSettings, "pool" | "openSessions">,
): PostgresForLocks {
  const { SQL_ROW_LOCK, SQL_ADVISORY } = env();
  let sessions: Pool | null = null;
  return {
    get pool() {
      return purchases();
    },
    sessionPool: () => {
      if (!sessions) {
        const pool = openSessions(SESSION_POOL_SIZE);
        closers.push(() => pool.end());
        sessions = pool;
      }
      return sessions;
    },
    rowOf: lockableRow,
    rowLock: SQL_ROW_LOCK,
    advisory: SQL_ADVISORY,
  };
}

/** Inverse of `resourceOf`; null if the resource names no target. */
export function targetOf(resource: string): StockTarget | null {
  const [, kind, id] = RESOURCE.exec(resource) ?? [];
  return kind === "product" || kind === "coupon" ? { kind, id: Number(id) } : null;
}

/** The stock row that a resource names; null if it names none. */
export function lockableRow(resource: string): LockableRow | null {
  const target = targetOf(resource);
  return target && { table: stockTables(target.kind).stock, id: target.id };
}
