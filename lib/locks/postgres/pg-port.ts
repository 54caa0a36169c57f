import type { Pool } from "pg";

/** Settings that select a variant of a PostgreSQL lock. */
export interface PgLockVariants {
  /** What `sql-row-lock` does when the row is locked. Default: `wait`. */
  readonly rowLock?: RowLockMode;
  /**
   * How long `sql-advisory` holds: until the transaction ends (default), or until it is unlocked or its session ends.
   */
  readonly advisory?: AdvisoryScope;
}

/** The database access that the PostgreSQL locks need. The caller closes the pools. */
export interface PostgresForLocks extends PgLockVariants {
  /** Lock transactions run on its connections. Other code may share it. */
  readonly pool: Pool;
  /**
   * Connections that hold session-level locks while the guarded work uses other connections. A separate pool, because
   * waiters could otherwise take every connection that the holder needs. Only the `session` scope calls it.
   */
  sessionPool(): Pool;
  /** The row that belongs to the resource, or null if there is none. */
  rowOf(resource: string): LockableRow | null;
}

export interface LockableRow {
  /** Table name as in SQL. It becomes part of a statement, so it must never come from user input. */
  readonly table: string;
  /** Value of the integer column `id`. */
  readonly id: number;
}

export type RowLockMode = "wait" | "nowait" | "skip-locked";
export type AdvisoryScope = "transaction" | "session";

/** The strategy and resource that an error names. */
export interface ErrorContext {
  readonly strategyId: string;
  readonly resource: string;
}

declare module "../lock-entry" {
  interface LockDependencies {
    /** The database with the guarded rows. */
    postgres(): PostgresForLocks;
  }
}
