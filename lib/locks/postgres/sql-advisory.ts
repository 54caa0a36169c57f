import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { type PgLockDefinition, pgBackend } from "./pg-lock-handle";
import type { PostgresForLocks } from "./pg-port";
import { advisoryKeyOf } from "./resource-hash";

export const sqlAdvisoryTraits: StrategyTraits = {
  id: "sql-advisory",
  family: "sql",
  kind: "lock",
  mechanism: "pg_advisory_xact_lock of a 64-bit hash of the resource, in the transaction of the sale.",
  remark: "by name",
  needs: ["postgres"],
  waiting: "queue",
  fair: true,
  expiryClock: "session",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "blocks", serverRestart: "survives" },
};

const sessionTraits: StrategyTraits = {
  ...sqlAdvisoryTraits,
  mechanism: "pg_advisory_lock of a 64-bit hash of the resource on a connection that does nothing else.",
  remark: "frees early",
  survives: { holderCrash: "survives", holderPause: "blocks", serverRestart: "breaks" },
};

/**
 * PostgreSQL as a lock service: a lock by number, tied to no row. The number is `advisoryKeyOf(resource)`.
 *
 * Scope `transaction` (the default): `pg_advisory_xact_lock(key)`; the section works in the same transaction (`grant.tx`).
 * Guarantees what `sql-row-lock` does, also where there is no row yet, among those who ask for the lock: unlike a row's,
 * it stops nobody who does not. First come, first served among the connections that wait in the server.
 *
 * Scope `session`: `pg_advisory_lock(key)` on a connection of a pool of its own, `pg_advisory_unlock(key)` at the end; the
 * section works elsewhere (`grant.tx` is null), as code with a lock here and an ORM there does. Whatever ends that one
 * connection frees the lock at once, while the holder still works: a restart, an administrator, a proxy's idle limit. The
 * holder is told (`grant.signal`), but a write that is already under way lands. That early end is the exhibit.
 *
 * A dead holder's connection frees the lock; a paused holder blocks it. No fencing token. No clock ends a hold;
 * PostgreSQL's clock ends a wait. Statements: key the number; atomic; `pg_try_...` and `pg_advisory_unlock` return a
 * boolean. Times in milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `outcome_unknown` (the answer to COMMIT was lost), `lease_lost`, `aborted`
 * @see https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
 */
export function createSqlAdvisory(
  postgres: PostgresForLocks,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const isSession = postgres.advisory === "session";
  const backend = isSession
    ? pgBackend(guardOf("", sessionTraits), () => postgres.sessionPool())
    : pgBackend(guardOf("xact_", sqlAdvisoryTraits), () => postgres.pool);
  return new LeaseRunner(backend, dependencies, options);
}

function guardOf(infix: "xact_" | "", traits: StrategyTraits): PgLockDefinition {
  const guard: PgLockDefinition = {
    traits,
    queues: true,
    take: (resource, how) => {
      return `SELECT pg_${how === "wait" ? "" : "try_"}advisory_${infix}lock(${keyLiteral(resource)}) AS taken`;
    },
    // The waiting function returns nothing, the trying one whether it succeeded.
    isTaken: ({ rows }) => rows[0]?.taken !== false,
  };
  if (infix) return guard;
  return { ...guard, free: (resource) => `SELECT pg_advisory_unlock(${keyLiteral(resource)}) AS freed` };
}

function keyLiteral(resource: string): string {
  return `'${advisoryKeyOf(resource)}'::bigint`;
}

/** Registration, listed in all-locks.ts. */
export const sqlAdvisory: LockEntry = {
  traits: sqlAdvisoryTraits,
  create: (dependencies) => createSqlAdvisory(dependencies.postgres(), dependencies),
};
