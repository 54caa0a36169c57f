import type { BackoffPolicy } from "../backoff";
import { LockError } from "../errors";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { pgBackend } from "./pg-lock-handle";
import type { LockableRow, PostgresForLocks } from "./pg-port";

export const sqlRowLockTraits: StrategyTraits = {
  id: "sql-row-lock",
  family: "sql",
  kind: "lock",
  mechanism:
    "SELECT ... FOR UPDATE of the row to sell, in the transaction that reads it, writes it and inserts the order.",
  remark: "row lock",
  needs: ["postgres"],
  waiting: "row-queue",
  fair: false,
  expiryClock: "session",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "blocks", serverRestart: "survives" },
};

/** Sparse in a crowd: a try is a transaction, and takes a connection and the server's time from the holder. */
const POLL_BACKOFF: BackoffPolicy = { minMs: 5, startMs: 20, growth: 2, perWaiterMs: 15, maxMs: 2_000 };

/**
 * The row's own lock: `SELECT 1 FROM table WHERE id = n FOR UPDATE`, held to the end of the transaction (`grant.tx`).
 *
 * Guarantees one holder at a time and that nothing a holder wrote counts unless its transaction commits, so a
 * holder whose connection dies has written nothing and blocks nobody. A paused holder keeps the row, and everybody waits
 * for it; it cannot be overtaken, so nothing breaks. It needs no fencing token. No clock ends a hold; PostgreSQL's
 * clock ends a wait. Statement: key table and id; atomic; returns one row, or none when there is no such row.
 *
 * Modes for a row that is locked: `wait` queues in the server, roughly in the order of arrival (each change of the row
 * sends the queue to its new version, where it forms anew); `nowait` fails at once (55P03), `skip-locked`
 * finds no row, and both ask again until the caller's wait is over, without a connection in between. `skip-locked` cannot
 * tell a locked row from one that does not exist.
 *
 * Each contender keeps a pooled connection while it waits, so a section must use `grant.tx` and nothing else of the
 * pool: waiters may have taken the rest. Times in milliseconds.
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
  const queues = mode === "wait";
  const traits: StrategyTraits = queues ? sqlRowLockTraits : { ...sqlRowLockTraits, waiting: "poll" };
  const whenLocked = mode === "skip-locked" ? "SKIP LOCKED" : "NOWAIT";
  const backend = pgBackend(
    {
      traits,
      queues,
      take: (resource, how) => {
        const { table, id } = rowToLock(postgres, sqlRowLockTraits.id, resource);
        return `SELECT 1 FROM ${table} WHERE id = ${id} FOR UPDATE${how === "wait" ? "" : ` ${whenLocked}`}`;
      },
      isTaken: ({ rowCount }, resource) => {
        if (rowCount === 1) return true;
        if (mode === "skip-locked") return false;
        throw noSuchRow(sqlRowLockTraits.id, resource);
      },
    },
    () => postgres.pool,
  );
  return new LeaseRunner(backend, dependencies, queues ? options : { backoff: POLL_BACKOFF, ...options });
}

/** @throws {LockError} `config_invalid` when the resource stands for no row */
export function rowToLock(postgres: PostgresForLocks, strategyId: string, resource: string): LockableRow {
  const row = postgres.rowOf(resource);
  if (!row || !Number.isSafeInteger(row.id)) throw noSuchRow(strategyId, resource);
  return row;
}

function noSuchRow(strategyId: string, resource: string): LockError {
  const message = "there is no row to lock for this resource";
  return new LockError({ code: "config_invalid", strategyId, resource, message, isDefinite: true });
}

/** Registration, listed in all-locks.ts. */
export const sqlRowLock: LockEntry = {
  traits: sqlRowLockTraits,
  create: (dependencies) => createSqlRowLock(dependencies.postgres(), dependencies),
};
