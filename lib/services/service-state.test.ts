// @alone: it sets the environment.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { servers } from "../../servers/all-servers";
import { failedProcesses } from "./failed-processes";
import { answers, ServiceWatch } from "./service-state";

const stateFile = path.join(tmpdir(), `state-${process.pid}.json`);
process.env.LAB_STATE_FILE = stateFile;
process.env.DATABASE_URL = "postgresql://lab@127.0.0.1:1/lab";
process.env.REDIS_URL = "redis://127.0.0.1:2";

function watched() {
  const world = { nowMs: 5_000, up: new Set<number>() };
  const watch = new ServiceWatch({
    kinds: [servers.postgres, servers.redis],
    answers: async ({ port }) => world.up.has(port),
    nowMs: () => world.nowMs,
    failures: failedProcesses,
  });
  const words = async () =>
    (await watch.states()).map(({ present, checking }) => (present ? "up" : checking ? "checking" : "down"));
  return { world, watch, words };
}

describe("the states of servers", () => {
  it("are `checking` after the start until a server answers, and `down` if it does not answer for ten seconds", async () => {
    const { world, words } = watched();
    assert.deepEqual(await words(), ["checking", "checking"]);
    world.up.add(1);
    assert.deepEqual(await words(), ["checking", "checking"], "answers are reused for two seconds");
    world.nowMs += 3_000;
    assert.deepEqual(await words(), ["up", "checking"]);
    world.nowMs += 8_000;
    assert.deepEqual(await words(), ["up", "down"]);
  });

  it("give the reason of a process that failed and the command that starts it, also for a store node", async () => {
    const { world, watch } = watched();
    world.up.add(1);
    const failed = ["redis", "node-2"].map((name) => ({ name, reason: `${name} exited 6 times.`, logFile: "/a.log" }));
    writeFileSync(stateFile, JSON.stringify({ instance: "main", failed }));
    const states = await watch.states();
    assert.deepEqual(
      states.map(({ id, present }) => [id, present]),
      [
        ["postgres", true],
        ["redis", false],
        ["node-2", false],
      ],
    );
    const [, redis, node] = states;
    assert.equal(redis?.reason, 'redis exited 6 times. To start it now, run "npm start". Its log: /a.log');
    assert.match(node?.reason ?? "", /^node-2 exited 6 times/);
    rmSync(stateFile);
    world.nowMs += 3_000;
    assert.equal((await watch.states()).length, 2);
  });

  it("are `down` at once if a server that has answered stops", async () => {
    const { world, words } = watched();
    world.up.add(1).add(2);
    assert.deepEqual(await words(), ["up", "up"]);
    world.up.delete(2);
    world.nowMs += 3_000;
    assert.deepEqual(await words(), ["up", "down"]);
  });
});

describe("a server", () => {
  async function listening(answer: (socket: Socket) => void) {
    const server = createServer((socket) => answer(socket.resume())).listen(0, "127.0.0.1");
    await once(server, "listening");
    return { server, endpoint: { host: "127.0.0.1", port: (server.address() as AddressInfo).port } };
  }

  it("answers although this process was stalled for longer than the limit", async () => {
    const { server, endpoint } = await listening((socket) => socket.end("hello"));
    const answer = answers(endpoint, "PING", 20);
    const untilMs = performance.now() + 60;
    while (performance.now() < untilMs);
    assert.equal(await answer, true);
    server.close();
    await once(server, "close");
    assert.equal(await answers(endpoint, "PING", 1_000), false);
  });

  it("does not answer if it only accepts the connection, or closes it", async () => {
    for (const refuse of [() => {}, (socket: Socket) => socket.end()]) {
      const { server, endpoint } = await listening(refuse);
      assert.equal(await answers(endpoint, "PING", 50), false);
      server.close();
    }
  });

  it("answers a refusal too", async () => {
    const { server, endpoint } = await listening((socket) => socket.write("-NOAUTH"));
    assert.equal(await answers(endpoint, "PING", 1_000), true);
    server.close();
  });
});
