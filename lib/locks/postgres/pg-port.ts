import type { Pool } from "pg";

/** What the locks in PostgreSQL need to know of their database. The pools stay their owner's to end. */
export interface PostgresForLocks {
  /** Transactions of the locks run on its connections, beside whatever else shares it. */
  readonly pool: Pool;
  /**
   * Connections that hold session-level locks while the guarded work runs on others. A pool apart: in the same one, the
   * waiters could take every connection the holder's work needs. Asked for by the `session` scope only.
   */
  sessionPool(): Pool;
  /** The row a resource stands for; null when it stands for none. */
  rowOf(resource: string): LockableRow | null;
  /** How `sql-row-lock` meets a row that is locked; absent: `wait`. */
  readonly rowLock?: RowLockMode;
  /** How long `sql-advisory` holds: to the end of a transaction (absent), or until it is unlocked or its session ends. */
  readonly advisory?: AdvisoryScope;
}

export interface LockableRow {
  /** Name of the table as it stands in SQL; goes into the text of a statement, so it must not come from outside. */
  readonly table: string;
  /** Value of the integer column `id`. */
  readonly id: number;
}

export type RowLockMode = "wait" | "nowait" | "skip-locked";
export type AdvisoryScope = "transaction" | "session";

/** Whom an error is about. */
export interface StrategyUnderTest {
  readonly strategyId: string;
  readonly resource: string;
}

declare module "../lock-entry" {
  interface LockDependencies {
    /** The database with the guarded rows. */
    postgres(): PostgresForLocks;
  }
}
