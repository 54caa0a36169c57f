import type { BackoffPolicy } from "../backoff";
import { LockError } from "../errors";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { pgBackend } from "./pg-lock-handle";
import type { LockableRow, PgLockVariants, PostgresForLocks } from "./pg-port";

export const sqlRowLockTraits: StrategyTraits = {
  id: "sql-row-lock",
  family: "sql",
  kind: "lock",
  mechanism:
    "SELECT ... FOR UPDATE on the stock row, in the transaction that reads it, writes it and inserts the order.",
  remark: "row lock",
  needs: ["postgres"],
  waiting: "row-queue",
  fair: false,
  expiryClock: "session",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "blocks", serverRestart: "survives" },
};

/** Long pauses under contention: each try is a transaction that takes a connection and server time from the holder. */
const POLL_BACKOFF: BackoffPolicy = { minMs: 5, startMs: 20, growth: 2, perWaiterMs: 15, maxMs: 2_000 };

/**
 * A PostgreSQL row lock.
 *
 * Mechanism: `SELECT 1 FROM table WHERE id = n FOR UPDATE`, held until the transaction (`grant.tx`) ends. If the row is
 * locked, mode `wait` queues in the server, roughly in arrival order (each update of the row moves the queue to the new
 * row version). Mode `nowait` fails at once (55P03) and `skip-locked` finds no row; both poll without a connection in
 * between. `skip-locked` cannot distinguish a locked row from a missing one.
 *
 * Guarantees one holder at a time. A holder's writes count only if its transaction commits, so a holder whose
 * connection dies has written nothing and blocks no waiter. A paused holder blocks the row, but no second holder can
 * enter.
 * Broken by: no fault. A paused holder only delays the others.
 * Fencing token: none, and none is needed.
 * Clock: no clock ends a hold; PostgreSQL's clock ends a wait. Times in milliseconds. Statement: arguments table and
 * id; atomic; returns one row, or none if the row does not exist.
 *
 * A waiter occupies a pooled connection, so a section must use only `grant.tx`: waiters may have taken the rest of the
 * pool.
 *
 * @throws {LockError} `backend_unavailable`, `outcome_unknown` (the answer to COMMIT was lost), `lease_lost`,
 *   `config_invalid` (no such row), `aborted`
 * @see https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
 */
export function createSqlRowLock(
  postgres: PostgresForLocks,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const mode = postgres.rowLock ?? "wait";
  const queuesInServer = queuesInPostgres(postgres);
  const whenLocked = mode === "skip-locked" ? "SKIP LOCKED" : "NOWAIT";
  const backend = pgBackend(
    {
      traits: traitsFor(postgres),
      queuesInServer,
      acquireSql: (resource, how) => {
        const { table, id } = rowToLock(postgres, sqlRowLockTraits.id, resource);
        return `SELECT 1 FROM ${table} WHERE id = ${id} FOR UPDATE${how === "wait" ? "" : ` ${whenLocked}`}`;
      },
      isAcquired: ({ rowCount }, resource) => {
        if (rowCount === 1) return true;
        if (mode === "skip-locked") return false;
        throw noSuchRow(sqlRowLockTraits.id, resource);
      },
    },
    () => postgres.pool,
  );
  return new LeaseRunner(backend, dependencies, queuesInServer ? options : { backoff: POLL_BACKOFF, ...options });
}

function queuesInPostgres({ rowLock = "wait" }: PgLockVariants): boolean {
  return rowLock === "wait";
}

function traitsFor(variants: PgLockVariants): StrategyTraits {
  return queuesInPostgres(variants) ? sqlRowLockTraits : { ...sqlRowLockTraits, waiting: "poll" };
}

/** @throws {LockError} `config_invalid` if no row belongs to the resource */
export function rowToLock(postgres: PostgresForLocks, strategyId: string, resource: string): LockableRow {
  const row = postgres.rowOf(resource);
  if (!row || !Number.isSafeInteger(row.id)) throw noSuchRow(strategyId, resource);
  return row;
}

function noSuchRow(strategyId: string, resource: string): LockError {
  const message = "this resource has no row to lock; check the resource name and the table";
  return new LockError({ code: "config_invalid", strategyId, resource, message, isDefinite: true });
}

/** Registration, listed in all-locks.ts. */
export const sqlRowLock: LockEntry = {
  traits: sqlRowLockTraits,
  traitsFor,
  create: (dependencies) => createSqlRowLock(dependencies.postgres(), dependencies),
};
