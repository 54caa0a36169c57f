import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import { after, describe, it } from "node:test";
import { answers } from "../../../bin/provision/ports";
import { startOf } from "../../../bin/shared/process-identity.mjs";
import { instancePaths } from "../../../bin/supervisor/paths";
import { readLiveState, writeState } from "../../../bin/supervisor/state";
import { waitFor } from "../../../bin/supervisor/wait-for";
import { aliveOf, lab, said, stateOf, supervisorLog } from "./lab-command";

/** A lab of these tests' own, beside the one that runs them; without the shop, which other tests start. */
const INSTANCE = "up-down-test";
/** Another checkout may run these tests at the same time: hardly ever in the same hundred. */
const PORT_BASE = 25_000 + 100 * (process.pid % 50);
const paths = instancePaths(INSTANCE);
const UP = ["up", "--instance", INSTANCE, "--port-base", String(PORT_BASE), "--servers-only", "--detach"];
const DOWN = ["down", "--instance", INSTANCE];
const SERVERS = ["etcd", "memcached", "postgres", "redis", "redlock-1", "redlock-2", "redlock-3", "redlock-4"];
const EVERYTHING = [...SERVERS, "redlock-5", "supervisor", "zookeeper"];
const REDIS_PORT = PORT_BASE + 20;

async function up(env?: Record<string, string>) {
  const ended = await lab(UP, env);
  assert.equal(ended.code, 0, said(ended));
  return { ended, state: stateOf(INSTANCE) };
}

describe("npm start and its end", () => {
  after(async () => {
    await lab(DOWN);
    rmSync(paths.dir, { recursive: true, force: true });
  });

  it("brings every server up, says so again when asked again, and leaves no process behind", async () => {
    const { ended, state } = await up();
    const postgres = `127\\.0\\.0\\.1:${PORT_BASE + 10}`;
    assert.match(
      ended.stdout,
      new RegExp(`✓ PostgreSQL +18\\.\\d+ \\(npm package\\), started on ${postgres} \\(\\d+\\.\\d s\\)`),
    );
    assert.match(ended.stdout, /✓ migrations +applied 20261120000000_init/);
    assert.deepEqual(aliveOf(state).sort(), EVERYTHING);

    const again = await lab(UP);
    assert.equal(again.code, 0, said(again));
    assert.match(again.stdout, /is up already/);
    assert.match(again.stdout, new RegExp(`DATABASE_URL=postgresql://lab@${postgres}/flash_sale_lab`));
    assert.deepEqual(aliveOf(stateOf(INSTANCE)).sort(), EVERYTHING);

    assert.match((await lab(DOWN)).stdout, /The lab is stopped/);
    assert.deepEqual(aliveOf(state), []);
    assert.equal(await answers(REDIS_PORT), false);
    assert.equal((await lab(["status", "--instance", INSTANCE])).code, 1);
    assert.match((await lab(DOWN)).stdout, /not running/);
  });

  it("starts one lab when it is asked for twice at once", async () => {
    const [one, two] = await Promise.all([lab(UP), lab(UP)]);
    assert.equal(one.code, 0, said(one));
    assert.equal(two.code, 0, said(two));
    assert.deepEqual(aliveOf(stateOf(INSTANCE)).sort(), EVERYTHING);
    await lab(DOWN);
  });

  it("starts a server again that was killed", async () => {
    const { state } = await up();
    const before = state.processes.find(({ name }) => name === "redis") ?? assert.fail("no Redis");
    process.kill(before.pid, "SIGKILL");
    const now = await waitFor(
      async () => {
        const redis = stateOf(INSTANCE).processes.find(({ name }) => name === "redis");
        return redis && redis.restarts === 1 && (await answers(REDIS_PORT)) ? redis : null;
      },
      { what: "Redis to be back", timeoutMs: 60_000 },
    );
    assert.notEqual(now.pid, before.pid);
    assert.match(supervisorLog(INSTANCE), /redis ended \(SIGKILL\); started again in 200 ms/);
    await lab(DOWN);
  });

  it("ends what a lab that was killed left running, before it starts anew", async () => {
    const { state: crashed } = await up();
    process.kill(crashed.supervisor.pid, "SIGKILL");
    await waitFor(() => !readLiveState(paths), { what: "the supervisor to be gone", timeoutMs: 30_000 });
    assert.ok(aliveOf(crashed).includes("postgres"), "its servers outlive a supervisor that is killed");

    const { state } = await up();
    assert.match(supervisorLog(INSTANCE), /ended what a lab that crashed had left running: .*postgres/);
    assert.deepEqual(aliveOf(crashed), []);
    assert.deepEqual(aliveOf(state).sort(), EVERYTHING);

    process.kill(state.supervisor.pid, "SIGKILL");
    await waitFor(() => !readLiveState(paths), { what: "the supervisor to be gone", timeoutMs: 30_000 });
    assert.match((await lab(DOWN)).stdout, /left running/);
    assert.deepEqual(aliveOf(state), []);
  });

  it("leaves a stranger alone that got the pid of one of its processes", async () => {
    const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      stdio: "ignore",
      detached: true,
    });
    const pid = stranger.pid ?? assert.fail("no process");
    try {
      const state = stateOf(INSTANCE);
      const process = { name: "redis", pid, start: "earlier", logFile: "", restarts: 0 };
      writeState(paths, { ...state, processes: [process], supervisor: { pid, start: "earlier" } });
      assert.match((await lab(DOWN)).stdout, /not running/);
      assert.notEqual(startOf(pid), null);
    } finally {
      stranger.kill("SIGKILL");
      await once(stranger, "exit");
    }
  });

  it("takes the next free port for a busy one, and does without a server that does not answer", async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(PORT_BASE + 40, "127.0.0.1", () => resolve()));
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
    } finally {
      await lab(DOWN);
      await new Promise((resolve) => squatter.close(resolve));
    }
  });

  it("does not start without PostgreSQL, and leaves nothing running then", async () => {
    const ended = await lab(UP, { DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none" });
    assert.equal(ended.code, 1, said(ended));
    assert.match(ended.stderr, /nothing works without PostgreSQL: DATABASE_URL is set, but .*ECONNREFUSED/);
    assert.deepEqual(aliveOf(stateOf(INSTANCE)), []);
    assert.equal(await answers(REDIS_PORT), false);
  });
});
