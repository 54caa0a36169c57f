import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { after, describe, it } from "node:test";
import pg from "pg";
import { answers } from "../../../bin/provision/ports";
import { startOf } from "../../../bin/shared/process-identity.mjs";
import { instancePaths } from "../../../bin/supervisor/paths";
import { type LabState, readLiveState, writeState } from "../../../bin/supervisor/state";
import { waitFor } from "../../../bin/supervisor/wait-for";
import { aliveOf, lab, outputOf, stateOf, supervisorLog } from "./lab-command";

/** A separate lab instance, so that the lab that runs the tests stays up. Without the shop, which other tests start. */
const INSTANCE = "up-down-test";
/** Depends on the pid, so that two checkouts rarely use the same ports at the same time. */
const PORT_BASE = 25_000 + 100 * (process.pid % 50);
const paths = instancePaths(INSTANCE);
const UP = ["up", "--instance", INSTANCE, "--port-base", String(PORT_BASE), "--servers-only", "--detach"];
const DOWN = ["down", "--instance", INSTANCE];
const SERVERS = ["etcd", "memcached", "postgres", "redis", "redlock-1", "redlock-2", "redlock-3", "redlock-4"];
const EVERYTHING = [...SERVERS, "redlock-5", "supervisor", "zookeeper"];
const REDIS_PORT = PORT_BASE + 20;

async function up(env?: Record<string, string>) {
  const ended = await lab(UP, env);
  assert.equal(ended.code, 0, outputOf(ended));
  return { ended, state: stateOf(INSTANCE) };
}

/** PostgreSQL rejects a value that it must not log. */
async function assertLogsArePrivate(state: LabState): Promise<void> {
  const client = new pg.Client({ connectionString: state.env.DATABASE_URL ?? "" });
  await client.connect();
  const secret = "purchase-token-of-a-buyer";
  await client.query("CREATE TEMPORARY TABLE secrets (token text PRIMARY KEY)");
  const insert = () => client.query("INSERT INTO secrets VALUES ($1)", [secret]);
  await insert();
  await assert.rejects(insert, /duplicate key/);
  await client.end();
  const postgres = state.processes.find(({ name }) => name === "postgres");
  const text = () => readFileSync(postgres?.logFile ?? "", "utf8");
  await waitFor(() => text().includes("duplicate key"), { what: "the error in the log", timeoutMs: 10_000 });
  assert.ok(!text().includes(secret), text());
  for (const { logFile } of state.processes) assert.equal(statSync(logFile).mode & 0o777, 0o600, logFile);
}

describe("npm start and npm run lab -- down", () => {
  after(async () => {
    await lab(DOWN);
    rmSync(paths.dir, { recursive: true, force: true });
  });

  it("starts every server once if two commands run at once, with private logs, and reports them on a later call", async () => {
    const both = await Promise.all([lab(UP), lab(UP)]);
    for (const ended of both) assert.equal(ended.code, 0, outputOf(ended));
    const postgres = `127\\.0\\.0\\.1:${PORT_BASE + 10}`;
    const text = both.map(({ stdout }) => stdout).join("");
    assert.match(
      text,
      new RegExp(`✓ PostgreSQL +18\\.\\d+ \\(npm package\\), started on ${postgres} \\(\\d+\\.\\d s\\)`),
    );
    assert.match(text, /✓ migrations +applied 20261120000000_init/);
    const state = stateOf(INSTANCE);
    assert.deepEqual(aliveOf(state).sort(), EVERYTHING);

    const again = await lab(UP);
    assert.equal(again.code, 0, outputOf(again));
    assert.match(again.stdout, /is already running/);
    assert.match(again.stdout, new RegExp(`DATABASE_URL=postgresql://lab@${postgres}/flash_sale_lab`));
    assert.deepEqual(aliveOf(stateOf(INSTANCE)).sort(), EVERYTHING);
    await assertLogsArePrivate(state);
  });

  it("stops the processes of a killed lab before it starts a new one", async () => {
    // Reports the lab of the test before, or starts one.
    const { state: crashed } = await up();
    process.kill(crashed.supervisor.pid, "SIGKILL");
    await waitFor(() => !readLiveState(paths), { what: "the supervisor to be gone", timeoutMs: 30_000 });
    assert.ok(aliveOf(crashed).includes("postgres"), "expected the servers to outlive a killed supervisor");

    const { state } = await up();
    assert.match(supervisorLog(INSTANCE), /Stopped processes that a crashed lab had left running: .*postgres/);
    assert.deepEqual(aliveOf(crashed), []);
    assert.deepEqual(aliveOf(state).sort(), EVERYTHING);

    process.kill(state.supervisor.pid, "SIGKILL");
    await waitFor(() => !readLiveState(paths), { what: "the supervisor to be gone", timeoutMs: 30_000 });
    assert.match((await lab(DOWN)).stdout, /left running/);
    assert.deepEqual(aliveOf(state), []);
  });

  it("does not stop another program that has the pid of one of the lab's processes", async () => {
    const unrelated = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      stdio: "ignore",
      detached: true,
    });
    const pid = unrelated.pid ?? assert.fail("expected a process, found none");
    try {
      const state = stateOf(INSTANCE);
      const process = { name: "redis", pid, start: "earlier", logFile: "", restarts: 0 };
      writeState(paths, { ...state, processes: [process], supervisor: { pid, start: "earlier" } });
      assert.match((await lab(DOWN)).stdout, /not running/);
      assert.notEqual(startOf(pid), null);
    } finally {
      unrelated.kill("SIGKILL");
      await once(unrelated, "exit");
    }
  });

  it("uses the next free port if one is busy, starts without a server that does not respond, and leaves no process after down", async () => {
    const occupant = createServer();
    await new Promise<void>((resolve) => occupant.listen(PORT_BASE + 40, "127.0.0.1", () => resolve()));
    try {
      const { ended, state } = await up({ REDIS_URL: "redis://127.0.0.1:1" });
      const [busy, next] = [PORT_BASE + 40, PORT_BASE + 41];
      assert.match(
        ended.stdout,
        new RegExp(`✓ Memcached +\\S+, started on 127\\.0\\.0\\.1:${next} \\(${busy} is busy\\)`),
      );
      assert.equal(state.env.MEMCACHED_URL, `127.0.0.1:${next}`);
      assert.match(
        ended.stdout,
        /– Redis +REDIS_URL is set, but .*ECONNREFUSED.*; start that server, or unset REDIS_URL/,
      );
      assert.equal(state.env.REDIS_URL, undefined);
      assert.match(state.missing.redis ?? "", /REDIS_URL is set, but/);
      assert.match(state.env.REDLOCK_URLS ?? "", /^redis:/);

      assert.match((await lab(DOWN)).stdout, /The lab is stopped/);
      assert.deepEqual(aliveOf(state), []);
      assert.equal(await answers(next), false);
      assert.equal((await lab(["status", "--instance", INSTANCE])).code, 1);
      assert.match((await lab(DOWN)).stdout, /not running/);
    } finally {
      await new Promise((resolve) => occupant.close(resolve));
    }
  });

  it("does not start without PostgreSQL, and leaves no process running", async () => {
    const ended = await lab(UP, { DATABASE_URL: "postgresql://lab@127.0.0.1:1/none" });
    assert.equal(ended.code, 1, outputOf(ended));
    assert.match(ended.stderr, /the lab cannot run without PostgreSQL: DATABASE_URL is set, but .*ECONNREFUSED/);
    assert.deepEqual(aliveOf(stateOf(INSTANCE)), []);
    assert.equal(await answers(REDIS_PORT), false);
  });
});
