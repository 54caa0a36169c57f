import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RunProxies } from "./run-proxies";

describe("the proxies of a run", () => {
  it("are one for each node and server endpoint, below the ports of outgoing connections, and end together", async () => {
    const proxies = new RunProxies(() => "postgresql://lab@127.0.0.1:9/none");
    await proxies.open(["node-1"], ["postgres"]);
    const before = proxies.ports;
    await proxies.open(["node-1", "node-2"], ["postgres"]);
    assert.deepEqual(proxies.ports["node-1"], before["node-1"], "expected the open proxy to stay");
    const ports = Object.entries(proxies.ports).map(([node, { postgres = [] }]) => [node, postgres] as const);
    assert.deepEqual(
      ports.map(([node, { length }]) => [node, length]),
      [
        ["node-1", 1],
        ["node-2", 1],
      ],
    );
    for (const port of ports.flatMap(([, numbers]) => numbers)) assert.ok(port < 32_768, `port ${port}`);
    const all = proxies.between(["node-1", "node-2"], ["postgres"]);
    assert.deepEqual(
      proxies.between(["node-2"], ["postgres", "redis"]).map(({ node, server }) => [node, server]),
      [["node-2", "postgres"]],
    );
    await proxies[Symbol.asyncDispose]();
    assert.ok(all.every(({ proxy }) => !proxy.enabled));
  });
});
