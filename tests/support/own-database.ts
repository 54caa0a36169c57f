import { randomBytes } from "node:crypto";
import pg from "pg";
import { applyMigrations } from "../../lib/services/migrations";

/** A separate, migrated and otherwise empty database on the test server. */
export interface OwnDatabase extends AsyncDisposable {
  readonly url: string;
  readonly pool: pg.Pool;
  /** One line per table: name, row count and a digest of all rows. */
  digest(): Promise<readonly string[]>;
}

export async function createOwnDatabase(): Promise<OwnDatabase> {
  const name = `own_${randomBytes(6).toString("hex")}`;
  const server = process.env.DATABASE_URL ?? "";
  await onServer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  await applyMigrations(url.href);
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  // FORCE, because a connection may still be closing.
  pool.on("error", () => {});
  return {
    url: url.href,
    pool,
    digest: () => digestOf(pool),
    async [Symbol.asyncDispose]() {
      await pool.end();
      await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function digestOf(pool: pg.Pool): Promise<readonly string[]> {
  const tables = await pool.query<{ table_name: string }>(
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
  );
  const lines = tables.rows.map(async ({ table_name }) => {
    const table = pg.escapeIdentifier(table_name);
    const result = await pool.query<{ line: string }>(
      `SELECT concat_ws(' ', count(*), md5(string_agg(t::text, E'\\n' ORDER BY t::text))) AS line FROM ${table} AS t`,
    );
    return `${table_name}: ${result.rows[0]?.line}`;
  });
  return Promise.all(lines);
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
