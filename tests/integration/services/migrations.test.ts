import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { defaultMigrationPaths, diffToSchema, writeMigration } from "../../../bin/schema-diff/schema-diff";
import { ROOT } from "../../../bin/supervisor/paths";
import { applyMigrations } from "../../../lib/services/migrations";
import { seed } from "../../../prisma/seed";
import { requireEnv } from "../../support/lab-env";
import { deployWithPrisma, diagnoseWithPrisma } from "../../support/prisma-engine";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");

const committed = defaultMigrationPaths(ROOT);
const ACCEPTED = { edited: [], failed: [], history: null, devAction: "createMigration" };
const CREATE_SHELVES = "CREATE TABLE shelves (id int PRIMARY KEY);\nINSERT INTO shelves VALUES (1);\n";

const url = new URL(process.env.DATABASE_URL ?? "");
const admin = new pg.Client({ connectionString: url.href });
let client: pg.Client;
let migrationsDir = "";

const own = () => ({ ...committed, migrationsDir });
const records = async () => {
  const { rows } = await client.query(
    "SELECT migration_name, checksum, finished_at IS NOT NULL AS finished, logs, applied_steps_count FROM _prisma_migrations ORDER BY started_at",
  );
  return rows;
};
const hasTable = async (name: string) => {
  const { rows } = await client.query("SELECT to_regclass($1) IS NOT NULL AS found", [name]);
  return rows[0]?.found;
};

async function addMigration(name: string, sql: string): Promise<string> {
  await mkdir(path.join(migrationsDir, name), { recursive: true });
  const file = path.join(migrationsDir, name, "migration.sql");
  await writeFile(file, sql);
  return file;
}

before(() => admin.connect());
after(() => admin.end());

beforeEach(async () => {
  const database = `migrations_${randomBytes(6).toString("hex")}`;
  await admin.query(`CREATE DATABASE ${database}`);
  url.pathname = `/${database}`;
  client = new pg.Client({ connectionString: url.href });
  await client.connect();
  migrationsDir = await mkdtemp(path.join(tmpdir(), "migrations-"));
  await cp(committed.migrationsDir, migrationsDir, { recursive: true });
});
afterEach(async () => {
  await client.end();
  await admin.query(`DROP DATABASE ${url.pathname.slice(1)} WITH (FORCE)`);
  await rm(migrationsDir, { recursive: true, force: true });
});

describe("applyMigrations", () => {
  it("applies every committed migration to an empty database, and nothing in a second call", async () => {
    const entries = await readdir(migrationsDir, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    assert.deepEqual(await applyMigrations(url.href), folders.sort());
    const first = await records();
    assert.deepEqual(await applyMigrations(url.href), []);
    assert.deepEqual(await records(), first);
  });

  it("leaves a database that Prisma accepts and that matches prisma/schema.prisma", async () => {
    await applyMigrations(url.href);
    assert.deepEqual(await diagnoseWithPrisma(url.href, committed), ACCEPTED);
    assert.deepEqual(await deployWithPrisma(url.href, committed), []);
    assert.equal(await diffToSchema(url.href, committed), null);
  });

  it("records what Prisma records, column by column", async () => {
    const columns =
      "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, column_default FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position";
    await deployWithPrisma(url.href, committed);
    const byPrisma = { columns: (await client.query(columns)).rows, rows: await records() };
    await client.query("DROP SCHEMA public CASCADE");
    await client.query("CREATE SCHEMA public");
    await applyMigrations(url.href);
    assert.deepEqual({ columns: (await client.query(columns)).rows, rows: await records() }, byPrisma);
  });

  it("accepts a database that Prisma's engine made, and applies only what is new", async () => {
    await deployWithPrisma(url.href, own());
    assert.deepEqual(await applyMigrations(url.href, migrationsDir), []);
    await addMigration("29990101000000_shelves", CREATE_SHELVES);
    assert.deepEqual(await applyMigrations(url.href, migrationsDir), ["29990101000000_shelves"]);
    assert.deepEqual(await deployWithPrisma(url.href, own()), []);
  });

  it("applies each migration once when two callers start at the same time", async () => {
    const both = await Promise.all([applyMigrations(url.href), applyMigrations(url.href)]);
    const names = both.flat().sort();
    assert.ok(names.includes("20261120000000_init"));
    assert.equal(new Set(names).size, names.length, `a migration was applied twice: ${names.join(", ")}`);
    assert.deepEqual((await records()).map((row) => row.migration_name).sort(), names);
  });

  it("waits for a session that holds Prisma's advisory lock", async () => {
    await client.query("SELECT pg_advisory_lock(72707369)");
    const migrating = applyMigrations(url.href);
    const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 72707369 AND NOT granted";
    await waitUntil(async () => (await admin.query(waiting)).rowCount === 1, {
      what: "applyMigrations to wait for the advisory lock",
    });
    assert.equal(await hasTable("_prisma_migrations"), false);
    await client.query("SELECT pg_advisory_unlock(72707369)");
    assert.ok((await migrating).length > 0);
  });

  it("keeps a failed migration's row and its error, undoes its statements, and names file and remedy", async () => {
    await addMigration("29990101000000_shelves", `${CREATE_SHELVES}INSERT INTO no_such_table VALUES (1);\n`);
    await addMigration("29990101000001_after", "CREATE TABLE after_the_failure ();");
    await assert.rejects(
      applyMigrations(url.href, migrationsDir),
      /29990101000000_shelves\/migration\.sql failed: relation "no_such_table" does not exist\. .*UPDATE _prisma_migrations/,
    );
    const row = (await records()).at(-1);
    assert.equal(row?.migration_name, "29990101000000_shelves");
    assert.equal(row?.finished, false);
    assert.equal(row?.applied_steps_count, 0);
    assert.match(row?.logs, /no_such_table/);
    assert.equal(await hasTable("shelves"), false);
    assert.equal(await hasTable("after_the_failure"), false);
    // Prisma replays the folder to find drift, which a migration that fails would stop.
    await addMigration("29990101000000_shelves", CREATE_SHELVES);
    const findings = await diagnoseWithPrisma(url.href, own());
    assert.deepEqual(findings.failed, ["29990101000000_shelves"]);
  });

  it("refuses to go on after a failed migration until its row is marked as rolled back", async () => {
    await addMigration("29990101000000_shelves", "BEGIN;\nINSERT INTO no_such_table VALUES (1);\nCOMMIT;\n");
    await assert.rejects(applyMigrations(url.href, migrationsDir), /no_such_table/);
    await addMigration("29990101000000_shelves", CREATE_SHELVES);
    const refusal = await applyMigrations(url.href, migrationsDir).catch((error: Error) => error.message);
    assert.match(String(refusal), /Migration 29990101000000_shelves failed earlier/);
    const remedy = /run: (UPDATE .*);/.exec(String(refusal))?.[1] ?? assert.fail(`no remedy in: ${refusal}`);
    await client.query(remedy);
    assert.deepEqual(await applyMigrations(url.href, migrationsDir), ["29990101000000_shelves"]);
    assert.equal((await diagnoseWithPrisma(url.href, own())).devAction, "createMigration");
  });

  it("refuses a migration whose file was changed after it was applied", async () => {
    const file = await addMigration("29990101000000_shelves", CREATE_SHELVES);
    await applyMigrations(url.href, migrationsDir);
    await appendFile(file, "-- one more line\n");
    await assert.rejects(
      applyMigrations(url.href, migrationsDir),
      /29990101000000_shelves was changed after it was applied/,
    );
  });

  it("refuses a database with a migration that the folder does not have", async () => {
    await addMigration("29990101000000_shelves", CREATE_SHELVES);
    await applyMigrations(url.href, migrationsDir);
    await assert.rejects(
      applyMigrations(url.href),
      /has migration 29990101000000_shelves, but the migrations folder does not/,
    );
  });

  it("refuses a database that has tables but no record of migrations", async () => {
    await client.query("CREATE TABLE someone_elses ()");
    await assert.rejects(applyMigrations(url.href), /has tables but no _prisma_migrations table/);
  });

  it("names the folder if it holds no migration, and the file if it cannot be read", async () => {
    await assert.rejects(applyMigrations(url.href, path.join(migrationsDir, "none")), /No migrations in .*none/);
    await mkdir(path.join(migrationsDir, "29990101000000_empty"));
    await assert.rejects(applyMigrations(url.href, migrationsDir), /Cannot read .*29990101000000_empty.migration\.sql/);
  });
});

describe("the seed", () => {
  it("gives the same products when it runs twice, and does not refill sold stock", async () => {
    await applyMigrations(url.href);
    const counts = await seed(url.href);
    await client.query("UPDATE products SET stock = 1 WHERE slug = 'espresso-machine'");
    assert.deepEqual(await seed(url.href), counts);
    const { rows } = await client.query("SELECT count(*)::int AS products, min(stock) AS least FROM products");
    assert.deepEqual(rows, [{ products: counts.products, least: 1 }]);
  });
});

describe("a new migration", () => {
  it("holds the changes of the schema file, and its writer leaves no scratch database", async () => {
    await applyMigrations(url.href);
    const schemaFile = path.join(migrationsDir, "schema.prisma");
    const text = await readFile(committed.schemaFile, "utf8");
    await writeFile(schemaFile, text.replace("model Product {", "model Product {\n  colour String?\n"));
    const sql = await diffToSchema(url.href, { ...committed, schemaFile });
    assert.equal(sql?.trim(), '-- AlterTable\nALTER TABLE "products" ADD COLUMN     "colour" TEXT;');
    const name = await writeMigration({ timestamp: "29990101000000", name: "colour", sql }, own());
    assert.equal(name, "29990101000000_colour");
    assert.equal(await readFile(path.join(migrationsDir, name, "migration.sql"), "utf8"), sql);
    const { rows } = await admin.query("SELECT datname FROM pg_database WHERE datname LIKE 'shadow_%'");
    assert.deepEqual(rows, []);
  });
});
