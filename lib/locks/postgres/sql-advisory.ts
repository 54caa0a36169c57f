import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { type PgLockDefinition, pgBackend } from "./pg-lock-handle";
import type { PgLockVariants, PostgresForLocks } from "./pg-port";
import { advisoryKeyOf } from "./resource-hash";

export const sqlAdvisoryTraits: StrategyTraits = {
  id: "sql-advisory",
  family: "sql",
  kind: "lock",
  mechanism: "pg_advisory_xact_lock on a 64-bit hash of the resource, in the transaction of the sale.",
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
  mechanism: "pg_advisory_lock on a 64-bit hash of the resource, on a connection used only for the lock.",
  remark: "releases early",
  heldBySession: true,
  survives: { holderCrash: "survives", holderPause: "blocks", serverRestart: "breaks" },
};

/**
 * PostgreSQL as a lock service: a lock on a number, not on a row. The number is `advisoryKeyOf(resource)`.
 *
 * Mechanism: scope `transaction` (the default) calls `pg_advisory_xact_lock(key)`; the section works in the same
 * transaction (`grant.tx`). Scope `session` calls `pg_advisory_lock(key)` on a connection of a separate pool and
 * `pg_advisory_unlock(key)` at the end; the section works on other connections (`grant.tx` is null), as in code with a
 * lock here and an ORM there.
 *
 * Guarantees what `sql-row-lock` does, even before the row exists, but only among callers that acquire the lock: unlike
 * a row lock, it does not block other writers. Connections are served in arrival order. A crashed holder's connection
 * releases the lock; a paused holder blocks it.
 * Broken by, in scope `session` only: the end of the lock's connection (a restart, an administrator, a proxy's idle
 * limit) releases the lock while the holder still works. `grant.signal` aborts, but a write that is already on its way
 * succeeds. This scope exists to show that.
 * Fencing token: none.
 * Clock: no clock ends a hold; PostgreSQL's clock ends a wait. Times in milliseconds. Statements: argument the key;
 * atomic; `pg_try_...` and `pg_advisory_unlock` return a boolean.
 *
 * @throws {LockError} `backend_unavailable`, `outcome_unknown` (the answer to COMMIT was lost), `lease_lost`, `aborted`
 * @see https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
 */
export function createSqlAdvisory(
  postgres: PostgresForLocks,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const traits = traitsFor(postgres);
  const backend =
    postgres.advisory === "session"
      ? pgBackend(definitionOf("", traits), () => postgres.sessionPool())
      : pgBackend(definitionOf("xact_", traits), () => postgres.pool);
  return new LeaseRunner(backend, dependencies, options);
}

function traitsFor({ advisory }: PgLockVariants): StrategyTraits {
  return advisory === "session" ? sessionTraits : sqlAdvisoryTraits;
}

function definitionOf(infix: "xact_" | "", traits: StrategyTraits): PgLockDefinition {
  const definition: PgLockDefinition = {
    traits,
    queuesInServer: true,
    acquireSql: (resource, how) => {
      return `SELECT pg_${how === "wait" ? "" : "try_"}advisory_${infix}lock(${keyLiteral(resource)}) AS taken`;
    },
    // pg_advisory_lock returns void; pg_try_advisory_lock returns whether it succeeded.
    isAcquired: ({ rows }) => rows[0]?.taken !== false,
  };
  if (infix) return definition;
  return { ...definition, releaseSql: (resource) => `SELECT pg_advisory_unlock(${keyLiteral(resource)}) AS released` };
}

function keyLiteral(resource: string): string {
  return `'${advisoryKeyOf(resource)}'::bigint`;
}

/** Registration, listed in all-locks.ts. */
export const sqlAdvisory: LockEntry = {
  traits: sqlAdvisoryTraits,
  traitsFor,
  create: (dependencies) => createSqlAdvisory(dependencies.postgres(), dependencies),
};
