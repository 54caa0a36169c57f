import { randomBytes } from "node:crypto";
import pg from "pg";
import { applyMigrations } from "../../lib/services/migrations";

/** A database of a test's own, on the tests' server: empty but for the tables. */
export interface OwnDatabase extends AsyncDisposable {
  readonly url: string;
  readonly pool: pg.Pool;
  /** One line a table: its name, how many rows it has, and a digest over all of them. */
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
  // The database is dropped under whatever connection is still closing.
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
