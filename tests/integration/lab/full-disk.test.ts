import assert from "node:assert/strict";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, it } from "node:test";
import { Client } from "pg";
import { instancePaths } from "../../../bin/supervisor/paths";
import { waitFor } from "../../../bin/supervisor/wait-for";
import { findPostgresBinaries } from "../../../servers/postgres/binaries";
import { choosePostgresHome } from "../../../servers/postgres/home";
import { lab, outputOf, stateOf } from "./lab-command";
import { onSmallDisk, whyNoSmallDisk } from "./small-disk";

/** A separate lab instance without the shop. Its PostgreSQL has a small disk. */
const INSTANCE = "full-disk-test";
const PORT_BASE = 20_000 + 100 * (35 + (process.pid % 20));
const UP = ["up", "--instance", INSTANCE, "--port-base", String(PORT_BASE), "--servers-only", "--detach"];
const DISK_MEGABYTES = 160;
const CONFIRMED = 100;
/** More than the segments of the write-ahead log that PostgreSQL keeps for reuse: 80 MB by default. */
const MAX_LOG_MEGABYTES = 200;
const paths = instancePaths(INSTANCE);
const obstacle = whyNoSmallDisk();

async function query<Row>(sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({
    connectionString: stateOf(INSTANCE).env.DATABASE_URL,
    connectionTimeoutMillis: 2_000,
    query_timeout: 5_000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(sql, values)).rows as Row[];
  } finally {
    await client.end().catch(() => {});
  }
}

/** The folder in which this lab's PostgreSQL will keep its data. */
async function postgresFolder(): Promise<string> {
  const wantedDir = path.join(paths.dataDir, "postgres");
  mkdirSync(wantedDir, { recursive: true });
  const found = (await findPostgresBinaries()) ?? assert.fail("expected PostgreSQL's programs, found none");
  return (await choosePostgresHome({ postgresBinary: found.binary, wantedDir })).dataDir;
}

/** Takes all space of the disk that contains a file. */
function fill(file: string): void {
  const { bavail, bsize } = statfsSync(path.dirname(file));
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

/** Writes to PostgreSQL's log until a segment does not fit on the disk. PostgreSQL then exits. */
async function exhaustLog(): Promise<void> {
  for (let megabytes = 0; megabytes < MAX_LOG_MEGABYTES; megabytes += 1) {
    const write = query("SELECT pg_logical_emit_message(false, 'full-disk', repeat('x', 1000000))");
    const isWritten = await write.then(
      () => true,
      () => false,
    );
    if (!isWritten) return;
  }
  assert.fail(`expected PostgreSQL to fail on a full disk, found ${MAX_LOG_MEGABYTES} MB written`);
}

after(async () => {
  await lab(["down", "--instance", INSTANCE]);
  rmSync(paths.dir, { recursive: true, force: true });
});

it("gives PostgreSQL up on a full disk, and starts it with every confirmed row when there is space again", {
  skip: obstacle !== null && !process.env.CI ? obstacle : false,
}, async () => {
  const folder = await postgresFolder();
  const started = await lab(UP, {}, { through: onSmallDisk(folder, DISK_MEGABYTES) });
  assert.equal(started.code, 0, outputOf(started));
  const filler = path.join("/proc", String(stateOf(INSTANCE).supervisor.pid), "root", folder, "filler");
  await query("CREATE TABLE confirmed (id int PRIMARY KEY)");
  for (let id = 1; id <= CONFIRMED; id += 1) await query("INSERT INTO confirmed VALUES ($1)", [id]);

  fill(filler);
  await exhaustLog();
  const failedPostgres = () => stateOf(INSTANCE).failed.find(({ name }) => name === "postgres");
  const failed = await waitFor(failedPostgres, { what: "PostgreSQL to be given up", timeoutMs: 60_000 });
  assert.match(failed.reason, /^postgres exited 6 times in 60 s/);
  const status = await lab(["status", "--instance", INSTANCE]);
  assert.match(status.stdout, /postgres +failed +postgres exited 6 times/);

  rmSync(filler);
  const ids = await waitFor(() => query<{ id: number }>("SELECT id FROM confirmed ORDER BY id").catch(() => null), {
    what: "PostgreSQL to answer again",
    timeoutMs: 60_000,
  });
  const expected = Array.from({ length: CONFIRMED }, (_, index) => index + 1);
  assert.deepEqual(
    ids.map(({ id }) => id),
    expected,
  );
  await waitFor(() => !failedPostgres(), { what: "the state without a failed PostgreSQL", timeoutMs: 20_000 });
});
