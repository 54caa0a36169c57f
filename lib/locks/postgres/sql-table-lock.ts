import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { pgBackend } from "./pg-lock-handle";
import type { PostgresForLocks } from "./pg-port";
import { rowToLock } from "./sql-row-lock";

export const sqlTableLockTraits: StrategyTraits = {
  id: "sql-table-lock",
  family: "sql",
  kind: "lock",
  mechanism:
    "LOCK TABLE ... IN EXCLUSIVE MODE in the transaction of the sale. One buyer at a time for the whole table.",
  remark: "blocks all",
  needs: ["postgres"],
  waiting: "queue",
  fair: true,
  expiryClock: "session",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "blocks", serverRestart: "survives" },
};

/**
 * A lock on the whole table that contains the row.
 *
 * Mechanism: `LOCK TABLE table IN EXCLUSIVE MODE`, held until the transaction (`grant.tx`) ends. Other transactions can
 * read meanwhile, but cannot write or lock any row of any product.
 *
 * Guarantees what `sql-row-lock` does, at the cost of blocking every other sale and every other writer of the table.
 * Connections are served in arrival order. A crashed holder's connection releases the table; a paused holder blocks it.
 * Broken by: no fault.
 * Fencing token: none, and none is needed.
 * Clock: no clock ends a hold; PostgreSQL's clock ends a wait. Times in milliseconds. Statement: argument the table;
 * atomic; returns nothing.
 *
 * A waiter occupies a pooled connection, so a section must use only `grant.tx`.
 *
 * @throws {LockError} `backend_unavailable`, `outcome_unknown` (the answer to COMMIT was lost), `lease_lost`,
 *   `config_invalid` (no table belongs to the resource), `aborted`
 * @see https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-TABLES
 */
export function createSqlTableLock(
  postgres: PostgresForLocks,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const backend = pgBackend(
    {
      traits: sqlTableLockTraits,
      queuesInServer: true,
      acquireSql: (resource, how) => {
        const { table } = rowToLock(postgres, sqlTableLockTraits.id, resource);
        return `LOCK TABLE ${table} IN EXCLUSIVE MODE${how === "wait" ? "" : " NOWAIT"}`;
      },
    },
    () => postgres.pool,
  );
  return new LeaseRunner(backend, dependencies, options);
}

/** Registration, listed in all-locks.ts. */
export const sqlTableLock: LockEntry = {
  traits: sqlTableLockTraits,
  create: (dependencies) => createSqlTableLock(dependencies.postgres(), dependencies),
};
