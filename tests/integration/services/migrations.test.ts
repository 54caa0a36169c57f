import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { ROOT } from "../../../bin/supervisor/paths";
import { applyMigrations, defaultMigrationPaths, diffToSchema, writeMigration } from "../../../lib/services/migrations";
import { seed } from "../../../prisma/seed";
import { requireEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL");

const committed = defaultMigrationPaths(ROOT);

describe("the migrations, applied by Prisma's engine without its download", () => {
  const database = `migrations_${randomBytes(6).toString("hex")}`;
  const url = new URL(process.env.DATABASE_URL ?? "");
  const admin = new pg.Client({ connectionString: url.href });
  url.pathname = `/${database}`;
  let client: pg.Client;
  let folder = "";

  const databases = async () => (await admin.query("SELECT datname FROM pg_database ORDER BY 1")).rows;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "migrations-"));
    await admin.connect();
    await admin.query(`CREATE DATABASE ${database}`);
    client = new pg.Client({ connectionString: url.href });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await admin.query(`DROP DATABASE ${database}`);
    await admin.end();
    await rm(folder, { recursive: true, force: true });
  });

  it("are applied once when two processes apply them at once, and recorded as prisma migrate does", async () => {
    const both = await Promise.all([applyMigrations(url.href, committed), applyMigrations(url.href, committed)]);
    const names = both.flat();
    assert.ok(names.includes("20261120000000_init"));
    assert.equal(new Set(names).size, names.length, "none twice");
    const { rows } = await client.query(
      "SELECT migration_name, applied_steps_count FROM _prisma_migrations WHERE finished_at IS NOT NULL ORDER BY 1",
    );
    assert.deepEqual(
      rows.map((row) => row.migration_name),
      names.sort(),
    );
    assert.deepEqual(await applyMigrations(url.href, committed), []);
  });

  it("lead to prisma/schema.prisma", async () => {
    assert.equal(await diffToSchema(url.href, committed), null);
  });

  it("come with a seed that can be sown twice and does not refill what was sold", async () => {
    const counts = await seed(url.href);
    await client.query("UPDATE products SET stock = 1 WHERE slug = 'espresso-machine'");
    assert.deepEqual(await seed(url.href), counts);
    const { rows } = await client.query("SELECT count(*)::int AS products, min(stock) AS least FROM products");
    assert.deepEqual(rows, [{ products: counts.products, least: 1 }]);
  });

  it("can be extended by what a changed schema asks for, and leave no scratch database", async () => {
    const schemaFile = path.join(folder, "schema.prisma");
    const text = await readFile(committed.schemaFile, "utf8");
    await writeFile(schemaFile, text.replace("model Product {", "model Product {\n  colour String?\n"));
    const present = await databases();
    const sql = await diffToSchema(url.href, { ...committed, schemaFile });
    assert.equal(sql?.trim(), '-- AlterTable\nALTER TABLE "products" ADD COLUMN     "colour" TEXT;');
    const migrationsDir = path.join(folder, "migrations");
    const name = await writeMigration(
      { timestamp: "20261121000000", name: "colour", sql },
      { migrationsDir, schemaFile },
    );
    assert.equal(name, "20261121000000_colour");
    assert.equal(await readFile(path.join(migrationsDir, name, "migration.sql"), "utf8"), sql);
    assert.deepEqual(await databases(), present);
  });

  it("name the folder when there is nothing to apply", async () => {
    const empty = { migrationsDir: path.join(folder, "none"), schemaFile: committed.schemaFile };
    await assert.rejects(applyMigrations(url.href, empty), /There are no migrations in .*none/);
  });
});
