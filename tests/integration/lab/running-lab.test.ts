import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { answers } from "../../../bin/provision/ports";
import { isSameProcess } from "../../../bin/shared/process-identity.mjs";
import { instancePaths } from "../../../bin/supervisor/paths";
import { waitFor } from "../../../bin/supervisor/wait-for";
import { TopologyLease } from "../../../lib/faults/topologies/topology-lease";
import { waitUntil } from "../../support/wait-until";
import { aliveOf, lab, outputOf, stateOf, supervisorLog } from "./lab-command";

/** A separate lab instance without the shop. */
const INSTANCE = "running-lab-test";
const PORT_BASE = 20_050 + 100 * (process.pid % 35);
const REDIS_PORT = PORT_BASE + 20;
const paths = instancePaths(INSTANCE);
const UP = ["up", "--instance", INSTANCE, "--port-base", String(PORT_BASE), "--servers-only", "--detach"];
const SENTINEL_PROCESSES = [
  "sentinel-1",
  "sentinel-2",
  "sentinel-3",
  "sentinel-master",
  "sentinel-replica-1",
  "sentinel-replica-2",
];

const topologyProcesses = () =>
  stateOf(INSTANCE).processes.filter(({ name, ...identity }) => name.startsWith("sentinel") && isSameProcess(identity));
const namesOf = (processes: readonly { readonly name: string }[]) => processes.map(({ name }) => name).sort();

async function command(url: string, ...parts: readonly string[]): Promise<unknown> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on("error", () => {});
  try {
    const [name = "", ...parameters] = parts;
    return await client.call(name, ...parameters);
  } finally {
    client.disconnect();
  }
}

const takeSentinel = () =>
  TopologyLease.take(paths.controlFile, {
    topology: "sentinel",
    databaseUrl: stateOf(INSTANCE).env.DATABASE_URL ?? "",
  });
const notYet = () => false;

/** Kills Redis whenever it runs. @returns what the lab says about it when it has stopped restarting it */
function killedUntilFailed() {
  const { processes, failed } = stateOf(INSTANCE);
  const redis = processes.find(({ name }) => name === "redis");
  if (redis && isSameProcess(redis)) process.kill(redis.pid, "SIGKILL");
  return failed.find(({ name }) => name === "redis");
}

describe("a running lab", () => {
  before(async () => {
    const started = await lab(UP);
    assert.equal(started.code, 0, outputOf(started));
  });
  after(async () => {
    await lab(["down", "--instance", INSTANCE]);
    rmSync(paths.dir, { recursive: true, force: true });
  });

  it("restarts a server that was killed, reports it if it keeps exiting, and starts it at the next `up`", async () => {
    const { processes } = stateOf(INSTANCE);
    const first = processes.find(({ name }) => name === "redis") ?? assert.fail("expected a Redis process, found none");
    process.kill(first.pid, "SIGKILL");
    const now = await waitFor(
      async () => {
        const redis = stateOf(INSTANCE).processes.find(({ name }) => name === "redis");
        return redis && redis.restarts === 1 && (await answers(REDIS_PORT)) ? redis : null;
      },
      { what: "Redis to be back", timeoutMs: 60_000 },
    );
    assert.notEqual(now.pid, first.pid);
    assert.match(supervisorLog(INSTANCE), /redis exited \(SIGKILL\); restarting in 200 ms/);

    const bounds = { what: "Redis to be given up", timeoutMs: 60_000 };
    const failed = await waitFor(killedUntilFailed, bounds);
    assert.match(failed.reason, /^redis exited 6 times in 60 s, last with SIGKILL\./);
    // At once: half a minute later the lab tries again by itself.
    const revived = await lab(UP);
    assert.equal(revived.code, 0, outputOf(revived));
    assert.match(revived.stdout, /Running again: redis/);
    assert.equal(await answers(REDIS_PORT), true);

    await waitFor(killedUntilFailed, bounds);
    const status = await lab(["status", "--instance", INSTANCE]);
    assert.match(status.stdout, /redis +failed +redis exited 6 times/);
    assert.ok(status.stdout.includes(`npm run lab -- up --instance ${INSTANCE}`), status.stdout);
  });

  it("ends a topology and its data with the connection that started it", async () => {
    const dataDir = path.join(paths.dataDir, "topologies", "sentinel");
    {
      await using lease = await takeSentinel();
      assert.deepEqual(namesOf(topologyProcesses()), SENTINEL_PROCESSES);
      assert.ok(existsSync(dataDir));
      assert.match(
        lease.addresses.servers.redis ?? "",
        /^redis\+sentinel:\/\/127\.0\.0\.1:\d+,127\.0\.0\.1:\d+,.*\/lab$/,
      );
    }
    assert.deepEqual(namesOf(topologyProcesses()), []);
    assert.ok(!existsSync(dataDir), `expected no ${dataDir} after the end of the topology`);
  });

  it("stops replication through a link that is cut, promotes the first replica of a killed master, and leaves the master down", async () => {
    await using lease = await takeSentinel();
    const [master, replica] = [lease.address("sentinel-master"), lease.address("sentinel-replica-1")];
    await command(master, "SET", "before", "1");
    assert.equal(await command(master, "WAIT", "2", "5000"), 2, "expected both replicas to acknowledge");
    await lease.cut("sentinel-link-1");
    await command(master, "SET", "after", "1");
    assert.equal(await command(replica, "EXISTS", "after"), 0, "expected nothing to pass a cut link");
    await lease.kill("sentinel-master");
    // A Sentinel closes the connections of a replica that it promotes.
    const isPromoted = () => command(replica, "ROLE").then((role) => String(role).startsWith("master"), notYet);
    await waitUntil(isPromoted, { what: "the replica to be promoted", withinMs: 30_000 });
    assert.deepEqual(
      [await command(replica, "EXISTS", "before"), await command(replica, "EXISTS", "after")],
      [1, 0],
      "expected the promoted replica to have what was written before the cut, and nothing else",
    );
    assert.ok(!namesOf(topologyProcesses()).includes("sentinel-master"), "expected the killed master to stay down");
    await lease.revive("sentinel-master");
    assert.equal(await command(master, "PING"), "PONG");
    await assert.rejects(lease.kill("node-1"), /sentinel has no process "node-1"/);
  });

  it("gives each connection a topology with its own ports and data", async () => {
    const [first, second] = await Promise.all([takeSentinel(), takeSentinel()]);
    try {
      await command(first.address("sentinel-master"), "SET", "owner", "first");
      assert.equal(await command(second.address("sentinel-master"), "GET", "owner"), null);
      assert.equal(topologyProcesses().length, 2 * SENTINEL_PROCESSES.length);
    } finally {
      await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
    }
  });

  it("keeps the topology that a command started until --stop, and ends it with the lab", async () => {
    const args = ["topology", "sentinel", "--instance", INSTANCE];
    const started = await lab(args);
    assert.equal(started.code, 0, outputOf(started));
    const master = /sentinel-master +(\S+)/.exec(started.stdout)?.[1] ?? "";
    assert.equal(await command(master, "PING"), "PONG", outputOf(started));
    assert.equal((await lab(args)).stdout, started.stdout, "expected a second start to report the running topology");
    const stopped = await lab([...args, "--stop"]);
    assert.match(stopped.stdout, /The topology sentinel is stopped\./, outputOf(stopped));
    assert.deepEqual(namesOf(topologyProcesses()), []);
    const again = await lab([...args, "--stop"]);
    assert.match(again.stdout, /The topology sentinel is not running\./, outputOf(again));

    assert.equal((await lab(args)).code, 0);
    const running = stateOf(INSTANCE);
    assert.deepEqual(namesOf(topologyProcesses()), SENTINEL_PROCESSES);
    await lab(["down", "--instance", INSTANCE]);
    assert.deepEqual(aliveOf(running), [], "expected the lab to end every process of the topology");
    const down = await lab(args);
    assert.notEqual(down.code, 0);
    assert.match(down.stderr, /The lab is not running\. Start it with/, outputOf(down));
  });
});
