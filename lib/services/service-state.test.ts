// @alone: it sets the environment.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { servers } from "../../servers/all-servers";
import { ServiceWatch } from "./service-state";

process.env.DATABASE_URL = "postgresql://lab@127.0.0.1:1/lab";
process.env.REDIS_URL = "redis://127.0.0.1:2";

function watched() {
  const world = { nowMs: 5_000, up: new Set<number>() };
  const watch = new ServiceWatch({
    kinds: [servers.postgres, servers.redis],
    isReachable: async ({ port }) => world.up.has(port),
    nowMs: () => world.nowMs,
  });
  const words = async () =>
    (await watch.states()).map(({ present, checking }) => (present ? "up" : checking ? "checking" : "down"));
  return { world, words };
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

  it("are `down` at once if a server that has answered stops", async () => {
    const { world, words } = watched();
    world.up.add(1).add(2);
    assert.deepEqual(await words(), ["up", "up"]);
    world.up.delete(2);
    world.nowMs += 3_000;
    assert.deepEqual(await words(), ["up", "down"]);
  });
});
