import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import pg from "pg";

/**
 * Applies the committed SQL migrations and records them in `_prisma_migrations` as `prisma migrate deploy` does, so that
 * Prisma's own commands accept the database.
 */

export interface Migration {
  /** The folder's name: a timestamp and a title. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file's bytes, in hexadecimal. */
  readonly checksum: string;
}

/** The advisory lock that Prisma's commands take too. */
const PRISMA_ADVISORY_LOCK = 72_707_369;
const LOCK_WAIT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
const LOCK_NOT_AVAILABLE = "55P03";

/** Prisma's definition of its table. */
const CREATE_RECORD_TABLE = `CREATE TABLE _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

export function defaultMigrationsDir(root: string = process.cwd()): string {
  return path.join(root, "prisma", "migrations");
}

/** The migrations of a folder in the order in which they apply: by name. */
export async function readMigrations(migrationsDir: string): Promise<Migration[]> {
  const entries = await readdir(migrationsDir, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(names.sort().map((name) => readMigration(migrationsDir, name)));
}

async function readMigration(migrationsDir: string, name: string): Promise<Migration> {
  const file = path.join(migrationsDir, name, "migration.sql");
  try {
    const bytes = await readFile(file);
    return { name, sql: bytes.toString("utf8"), checksum: createHash("sha256").update(bytes).digest("hex") };
  } catch (cause) {
    throw new Error(`Cannot read ${file}. Restore the file, or delete its folder if the migration was never applied.`, {
      cause,
    });
  }
}

/**
 * Applies each committed migration that the database does not have yet. Several processes may call this at the same
 * time: an advisory lock admits one process at a time, and the others find nothing left to apply.
 * @returns the names of the migrations that this call applied
 * @throws Error if a migration fails or failed earlier, if an applied migration's file was changed or deleted, or if
 *   another process holds the advisory lock for longer than a minute
 */
export async function applyMigrations(
  databaseUrl: string,
  migrationsDir: string = defaultMigrationsDir(),
): Promise<string[]> {
  const migrations = await readMigrations(migrationsDir);
  if (migrations.length === 0) throw new Error(`No migrations in ${migrationsDir}. Check the path.`);
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // The statement that fails reports a lost connection; without a listener the event would end the process.
  client.on("error", () => {});
  await client.connect();
  try {
    await acquireAdvisoryLock(client);
    return await applyPending(client, migrations);
  } finally {
    await client.end(); // The end of the session releases the advisory lock.
  }
}

async function acquireAdvisoryLock(client: pg.Client): Promise<void> {
  await client.query(`SET lock_timeout = ${LOCK_WAIT_MS}`);
  try {
    await client.query("SELECT pg_advisory_lock($1)", [PRISMA_ADVISORY_LOCK]);
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== LOCK_NOT_AVAILABLE) throw cause;
    const seconds = LOCK_WAIT_MS / 1_000;
    throw new Error(
      `Another process has been migrating this database for more than ${seconds} s (advisory lock ${PRISMA_ADVISORY_LOCK}). Wait for it to finish, or end its session.`,
      { cause },
    );
  }
  await client.query("RESET lock_timeout");
}

async function applyPending(client: pg.Client, migrations: readonly Migration[]): Promise<string[]> {
  const applied = await readRecords(client);
  checkRecords(applied, migrations);
  const pending = migrations.filter(({ name }) => !applied.some((record) => record.name === name));
  for (const migration of pending) await applyMigration(client, migration);
  return pending.map(({ name }) => name);
}

interface MigrationRecord {
  readonly id: string;
  readonly name: string;
  readonly checksum: string;
  readonly isFinished: boolean;
}

/** What was applied before. A row that was marked as rolled back counts as absent, as it does for Prisma. */
async function readRecords(client: pg.Client): Promise<MigrationRecord[]> {
  const { rows } = await client.query<{ has_record: boolean; has_tables: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS has_record,
       EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema()) AS has_tables`,
  );
  const [state] = rows;
  if (!state?.has_record) {
    if (state?.has_tables)
      throw new Error(
        "The database has tables but no _prisma_migrations table, so the applied migrations are unknown. Use an empty database.",
      );
    await client.query(CREATE_RECORD_TABLE);
    return [];
  }
  const records = await client.query<MigrationRecord>(
    `SELECT id, migration_name AS name, checksum, finished_at IS NOT NULL AS "isFinished"
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return records.rows;
}

/** @throws Error if the database's record and the committed files disagree */
function checkRecords(records: readonly MigrationRecord[], migrations: readonly Migration[]): void {
  for (const record of records) {
    if (!record.isFinished)
      throw new Error(
        `Migration ${record.name} failed earlier, or its process stopped before it finished. ${howToRetry(record)}`,
      );
    const committed = migrations.find(({ name }) => name === record.name);
    if (!committed)
      throw new Error(
        `The database has migration ${record.name}, but the migrations folder does not. Restore the folder, or use another database.`,
      );
    if (committed.checksum !== record.checksum)
      throw new Error(
        `Migration ${record.name} was changed after it was applied: its checksum differs. Restore its migration.sql, and put the change into a new migration.`,
      );
  }
}

function howToRetry({ id }: { readonly id: string }): string {
  return `Undo the statements that took effect, correct the cause, and run: UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = '${id}'; then migrate again.`;
}

async function applyMigration(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  const id = randomUUID();
  await client.query("INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)", [
    id,
    checksum,
    name,
  ]);
  try {
    // Without parameters all statements go in one message, which PostgreSQL runs as one transaction.
    await client.query(sql);
  } catch (cause) {
    await recordFailure(client, { id, cause });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Migration ${name}/migration.sql failed: ${reason}. ${howToRetry({ id })}`, { cause });
  }
  await client.query("UPDATE _prisma_migrations SET applied_steps_count = 1, finished_at = now() WHERE id = $1", [id]);
}

async function recordFailure(client: pg.Client, failure: { readonly id: string; readonly cause: unknown }) {
  const { id, cause } = failure;
  try {
    // If the migration contains a BEGIN, a failed transaction is still open.
    await client.query("ROLLBACK");
    await client.query("UPDATE _prisma_migrations SET logs = $2 WHERE id = $1", [id, String(cause)]);
  } catch {
    // The connection is lost: the row stays unfinished, which the next call reports. The caller throws the cause.
  }
}
