import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, it } from "node:test";
import { defaultPort, describePort, isPortFree, PORT_NAMES, planPorts, TOPOLOGY_PORT_NAMES, wantedPort } from "./ports";

/** Every port is free except these. */
const allBut =
  (...busy: number[]) =>
  async (port: number) =>
    !busy.includes(port);

describe("the plan of ports", () => {
  it("keeps every default when all are free, each below the range of outgoing connections", async () => {
    const plan = await planPorts(PORT_NAMES, { env: {}, isFree: allBut() });
    for (const name of PORT_NAMES) assert.deepEqual(plan[name], { port: defaultPort(name), busy: null });
    assert.ok(PORT_NAMES.every((name) => defaultPort(name) < 32_768));
  });

  it("uses the next free port if one is busy, and reports the busy one", async () => {
    const plan = await planPorts(["dashboard"], { env: {}, isFree: allBut(3000, 3001) });
    assert.deepEqual(plan.dashboard, { port: 3002, busy: 3000 });
    assert.equal(describePort(plan.dashboard), "127.0.0.1:3002 (3000 is busy)");
  });

  it("does not move a busy server to a port that another server requested", async () => {
    const plan = await planPorts(PORT_NAMES, { env: {}, isFree: allBut(defaultPort("redis")) });
    assert.equal(plan.redis?.port, 16_385, "16380 to 16384 belong to Redlock");
    assert.equal(plan["redlock-1"]?.port, 16_380);
    const ports = PORT_NAMES.map((name) => plan[name]?.port);
    assert.equal(new Set(ports).size, ports.length);
  });

  it("assigns no port twice if two busy ones move to the same port", async () => {
    const plan = await planPorts(["dashboard", "node-1"], { env: {}, isFree: allBut(3000, 3001) });
    assert.deepEqual([plan.dashboard?.port, plan["node-1"]?.port], [3002, 3003]);
  });

  it("moves the whole lab, with its topologies, into a block of 100 ports", async () => {
    const names = [...PORT_NAMES, ...TOPOLOGY_PORT_NAMES];
    const plan = await planPorts(names, { base: 24_000, env: {}, isFree: allBut() });
    const ports = names.map((name) => plan[name]?.port ?? 0);
    assert.ok(ports.every((port) => port >= 24_000 && port < 24_100));
    assert.equal(new Set(ports).size, ports.length);
  });

  it("prefers a port from the environment to the base, and rejects an invalid one", () => {
    assert.equal(wantedPort("node-1", { base: 24_000, env: { LAB_PORT_NODE_1: "4001" } }), 4_001);
    assert.throws(() => wantedPort("redis", { env: { LAB_PORT_REDIS: "many" } }), /LAB_PORT_REDIS=many is not a port/);
    assert.throws(() => wantedPort("redis", { env: { LAB_PORT_REDIS: "65536" } }), /not a port/);
  });

  it("fails if 200 consecutive ports are busy", async () => {
    await assert.rejects(planPorts(["redis"], { env: {}, isFree: async () => false }), /no free port for redis/);
  });
});

describe("a port of this machine", () => {
  it("is busy while something listens on it, and free afterwards", async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(typeof address === "object" && address ? address.port : 0);
      });
    });
    assert.equal(await isPortFree(port), false);
    await new Promise((resolve) => server.close(resolve));
    assert.equal(await isPortFree(port), true);
  });
});
