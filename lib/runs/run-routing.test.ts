import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, it } from "node:test";
import type { Fault } from "../faults/fault";
import { RunProxies } from "../faults/run-proxies";
import { elapsedMs, nowNs } from "../services/monotonic";
import type { NodeClient } from "./node-client";
import type { PlannedFault } from "./plan-faults";
import { RunRouting } from "./run-routing";

function planned(nodeNames: readonly string[]): PlannedFault {
  const fault = { id: "latency" } as unknown as Fault;
  return { fault, atMs: 0, durationMs: 0, nodeName: "node-1", nodeNames, servers: ["postgres"], topology: null };
}

/** A run on two nodes without proxies, in front of a server that accepts connections. */
async function selling() {
  const server = createServer((socket) => socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const proxies = new RunProxies(() => `postgresql://lab@127.0.0.1:${port}/none`);
  const log: string[] = [];
  const failing = new Set<string>();
  const closing = new AbortController();
  const nodes = ["node-1", "node-2"].map((name) => ({
    address: { name, url: "" },
    reroute: async (runId: string, { proxyPorts }: Parameters<NodeClient["reroute"]>[1]) => {
      if (failing.has(name)) throw new Error(`${name}: did not answer`);
      log.push(`${runId} ${name} ${Object.keys(proxyPorts).join("+")}`);
    },
  }));
  const store = async (_: string, ports: object) => void log.push(`stored ${Object.keys(ports).join("+")}`);
  const routing = new RunRouting({ runId: "r1", proxies, nodes, store, closing: closing.signal });
  return {
    ...{ proxies, routing, log, failing, closing },
    async [Symbol.asyncDispose]() {
      await proxies[Symbol.asyncDispose]();
      server.close();
      await once(server, "close");
    },
  };
}

describe("the routes of a running sale", () => {
  it("go through proxies once a fault needs them, which are stored before a node uses them", async () => {
    await using run = await selling();
    const { routing, proxies, log } = run;
    run.closing.abort();
    assert.ok(proxies.isEmpty, "expected no proxy before a fault is armed");
    await routing.through(planned(["node-2"]));
    assert.deepEqual(log, ["stored node-2", "r1 node-2 node-2"]);
    await routing.through(planned(["node-2"]));
    assert.equal(log.length, 2, "expected no second switch to the same proxies");
    await Promise.all([routing.through(planned(["node-1", "node-2"])), routing.through(planned(["node-1"]))]);
    assert.deepEqual(log.slice(2), ["stored node-2+node-1", "r1 node-1 node-2+node-1"]);
  });

  it("make the fault missed if a node does not switch, also for a later fault on the same proxies", async () => {
    await using run = await selling();
    const { routing, failing } = run;
    run.closing.abort();
    failing.add("node-2");
    const missed = /^FaultMissed: not every node switched to its proxies: node-2: did not answer$/;
    await assert.rejects(routing.through(planned(["node-1", "node-2"])), missed);
    await assert.rejects(routing.through(planned(["node-1", "node-2"])), missed);
    failing.clear();
    await routing.through(planned(["node-1", "node-2"]));
  });

  it("let the fault start when the nodes have connected through the proxies", async () => {
    await using run = await selling();
    const { routing, proxies, log } = run;
    let isReady = false;
    const ready = routing.through(planned(["node-1"])).then(() => {
      isReady = true;
    });
    while (log.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isReady, false, "expected the fault to wait for a connection");
    const [link] = proxies.between(["node-1"], ["postgres"]);
    const client = connect(link?.proxy.port ?? 0, "127.0.0.1").on("error", () => {});
    await ready;
    assert.equal(link?.proxy.openConnections, 1);
    client.destroy();
  });

  it("do not keep a fault waiting when the load is over", async () => {
    await using run = await selling();
    const beganNs = nowNs();
    const ready = run.routing.through(planned(["node-1"]));
    while (run.log.length < 2) await new Promise((resolve) => setImmediate(resolve));
    run.closing.abort();
    await ready;
    assert.ok(elapsedMs(beganNs) < 1_500, "expected no wait for connections after the load");
  });
});
