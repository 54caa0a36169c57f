import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { instancePaths } from "../../../bin/supervisor/paths";
import { TopologyHost } from "../../../bin/supervisor/topology-host";
import { topologiesById } from "../../../lib/faults/topologies/all-topologies";
import {
  PG_CLIENT_LINK,
  PG_PRIMARY,
  PG_REPLICA,
  PG_REPLICA_LINK,
} from "../../../lib/faults/topologies/pg-replica-names";
import { waitUntil } from "../../support/wait-until";

const { dir } = instancePaths("pg-replica-test");
const PORT_BASE = 20_050 + 100 * (process.pid % 35);
/** Well above the time of a commit that the replica confirms. */
const CONFIRM_LIMIT_MS = 10_000;

/** The first column of the first row. */
async function ask(url: string, sql: string, setup: readonly string[] = []): Promise<unknown> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    for (const statement of setup) await client.query(statement);
    const { rows } = await client.query({ text: sql, rowMode: "array" });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

describe("pg-replica", () => {
  const dataDir = path.join(dir, "data");
  const host = new TopologyHost({
    topologies: topologiesById,
    dataDir,
    logsDir: path.join(dir, "logs"),
    portBase: PORT_BASE,
    events: { onChange: () => {}, onNote: () => {} },
  });
  before(() => void mkdirSync(path.join(dir, "logs"), { recursive: true }));
  after(async () => {
    await host.stopAll();
    assert.ok(!existsSync(path.join(dataDir, "pg-replica")), "expected no data after the end of the topology");
    rmSync(dir, { recursive: true, force: true });
  });

  it("loses what was committed behind a cut link, unless the commit waits for the replica", async () => {
    const wanted = { topology: "pg-replica" as const, databaseUrl: process.env.DATABASE_URL ?? "" };
    const { running, addresses } = await host.start(wanted, AbortSignal.timeout(60_000));
    const clients = addresses.servers.postgres ?? "";
    const replica = addresses.processes[PG_REPLICA] ?? "";
    const applied = ["SET synchronous_commit = remote_apply", `SET statement_timeout = ${CONFIRM_LIMIT_MS}`];
    await ask(clients, "CREATE TABLE writes AS SELECT 'before' AS name", applied);
    assert.equal(await ask(replica, "SELECT name FROM writes"), "before", "expected the replica to have applied it");
    assert.equal(await ask(replica, "SELECT pg_is_in_recovery()"), true);

    await running.cut(PG_REPLICA_LINK);
    const write = (name: string) => `INSERT INTO writes VALUES ('${name}') RETURNING name`;
    assert.equal(await ask(clients, write("lost")), "lost", "expected a commit that does not wait to be acknowledged");
    const replicas = await ask(clients, "SELECT count(*)::int FROM pg_stat_replication");
    assert.equal(replicas, 0, "expected no replica to be connected");
    const blocked = ask(clients, write("blocked"), applied.slice(0, 1)).catch((error: Error) => error);
    const isWaiting = "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    await waitUntil(async () => (await ask(clients, isWaiting)) === 1, { what: "the commit to wait for the replica" });

    await running.kill(PG_PRIMARY);
    assert.ok((await blocked) instanceof Error, "expected the commit that waited to stay unacknowledged");
    assert.equal(await ask(replica, "SELECT pg_promote()"), true);
    await running.redirect(PG_CLIENT_LINK, PG_REPLICA);
    assert.equal(await ask(clients, "SELECT pg_is_in_recovery()"), false, "expected clients to reach the new primary");
    assert.equal(await ask(clients, "SELECT string_agg(name, ' ') FROM writes"), "before");
    assert.equal(await ask(clients, write("after")), "after", "expected the promoted server to accept writes");
    const timeline = await ask(clients, "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)");
    assert.equal(timeline, "00000002", "expected the promotion to begin a timeline");
    await assert.rejects(running.redirect(PG_CLIENT_LINK, "node-1"), /no port is planned for "node-1"/);
  });
});
