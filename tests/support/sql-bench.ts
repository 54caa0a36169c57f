import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before } from "node:test";
import { systemClock } from "../../lib/locks/clock";
import { isLockError, type LockErrorCode } from "../../lib/locks/errors";
import { createSqlAdvisory } from "../../lib/locks/postgres/sql-advisory";
import { createSqlRowLock } from "../../lib/locks/postgres/sql-row-lock";
import { createSqlTableLock } from "../../lib/locks/postgres/sql-table-lock";
import { systemRandom } from "../../lib/locks/random";
import type { LockRequest, LockStrategy } from "../../lib/locks/types";
import { type HeldLock, holdLock } from "./hold-lock";
import { requireEnv } from "./lab-env";
import { openPgWatch, type PgWatch } from "./pg-watch";
import { openTestPostgres, type TestPostgres, type TestPostgresOptions } from "./postgres-for-tests";
import { relayService } from "./relayed-servers";

/** The fixture of the PostgreSQL lock tests. Closes everything that a test opened when the test ends. */

requireEnv("DATABASE_URL");
const dependencies = { clock: systemClock, random: systemRandom };
const makers = {
  "sql-row-lock": createSqlRowLock,
  "sql-table-lock": createSqlTableLock,
  "sql-advisory": createSqlAdvisory,
};
export type Id = keyof typeof makers;
export const ids = Object.keys(makers) as Id[];
/** Each PostgreSQL lock with its default options, and the session-level advisory lock. */
export const variants: [name: string, id: Id, options: TestPostgresOptions][] = [
  ...ids.map((id): [string, Id, TestPostgresOptions] => [id, id, {}]),
  ["sql-advisory of a session", "sql-advisory", { advisory: "session" }],
];

/** Available during a test. */
export let watch: PgWatch;
before(async () => {
  watch = await openPgWatch();
  // The first connection creates the rows.
  await using postgres = openTestPostgres();
  await postgres.pool.query("SELECT 1");
});
after(() => watch[Symbol.asyncDispose]());

export const toDispose: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of toDispose.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

export function open(id: Id, options: TestPostgresOptions = {}): { lock: LockStrategy; postgres: TestPostgres } {
  const postgres = openTestPostgres(options);
  const lock = makers[id](postgres, dependencies);
  toDispose.push(postgres, lock);
  return { lock, postgres };
}

export const fresh = (overrides: Partial<LockRequest> = {}): LockRequest => ({
  resource: `test:${randomUUID()}`,
  waitTimeoutMs: 5_000,
  ttlMs: 5_000,
  ...overrides,
});

/** Holds the lock until it is released. Also releases it after a failed assertion, because disposal waits for holders. */
export async function holdIn(lock: LockStrategy, request: LockRequest): Promise<HeldLock> {
  const stay = await holdLock(lock, request);
  toDispose.push(stay);
  return stay;
}

/** A relay to the server that can be frozen and cut. */
export async function openRelay() {
  const relayed = await relayService("postgres");
  toDispose.push(relayed);
  const [relay] = relayed.relays;
  if (!relay) throw new Error("relayService returned no relay for postgres");
  return { ...relay, databaseUrl: relayed.servers.postgres ?? "" };
}

export const failsWith = (code: LockErrorCode, isDefinite: boolean) => (error: unknown) =>
  isLockError(error) && error.code === code && error.isDefinite === isDefinite;

export function assertAllBack({ pool }: TestPostgres): void {
  assert.deepEqual({ busy: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }, { busy: 0, waiting: 0 });
}
