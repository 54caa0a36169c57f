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
  mechanism: "LOCK TABLE ... IN EXCLUSIVE MODE in the transaction of the sale: one buyer at a time in the whole table.",
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
 * The lock of the whole table the row is in: `LOCK TABLE table IN EXCLUSIVE MODE`, held to the end of the transaction
 * (`grant.tx`). Others may read meanwhile, and nobody may write or lock a row, of any product.
 *
 * Guarantees what `sql-row-lock` does, at the price of every other sale, and of whatever else writes there. First come,
 * first served among the connections that wait in the server. A dead holder's connection frees the table; a paused
 * holder blocks it. No fencing token is needed. No clock ends a hold; PostgreSQL's clock ends a wait. Statement:
 * key table; atomic; returns nothing.
 *
 * Each contender keeps a pooled connection while it waits: a section must use `grant.tx` alone. Times in milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `outcome_unknown` (the answer to COMMIT was lost), `lease_lost`,
 *   `config_invalid` (the resource is in no table), `aborted`
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
      queues: true,
      take: (resource, how) => {
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
