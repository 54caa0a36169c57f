import assert from "node:assert/strict";
import { it } from "node:test";
import { type SessionRequest, SimZooKeeper } from "../../simulator/servers/sim-zookeeper";
import { SimZkSession } from "../../simulator/servers/zookeeper-client";
import { Link } from "../../simulator/world/network";
import { SimProcess } from "../../simulator/world/process";
import { World } from "../../simulator/world/world";

class CountingZooKeeper extends SimZooKeeper {
  opened = 0;

  override connect(request: SessionRequest): string | null {
    if (request.session === null) this.opened += 1;
    return super.connect(request);
  }
}

it("the simulated ZooKeeper client opens one session when its link breaks while a reconnect is due", async () => {
  const world = new World(1);
  const process = new SimProcess(world, "node-1", { rate: 1, skewMs: 0 });
  const server = new CountingZooKeeper(world, "zookeeper", 1);
  const link = new Link(
    world,
    { process, server },
    {
      conditions: { slowestMs: 1, breakChance: 0, repeatChance: 0, dropChance: 0 },
      limits: { silenceMs: 10_000, connectMs: 1_000, mayDeliverLate: false },
    },
  );
  const session = new SimZkSession({ world, process, link, server, sessionTimeoutMs: 400 });
  const connected = session.connected(new AbortController().signal);
  link.reset();
  await world.run(() => false, 1);
  // The reconnect and the event of the second break both come due during the pause. The partition then delays the answer.
  process.pause(100);
  await world.run(() => false, 50);
  link.reset();
  link.block(150);
  await world.run(() => false, 500);
  const connection = await connected;
  assert.equal(connection.isUp, true);
  assert.equal(server.opened, 1, `expected 1 session, found ${server.opened}`);
});
