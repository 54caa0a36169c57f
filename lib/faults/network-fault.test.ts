import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import { commitReplyLost } from "./commit-reply-lost";
import { down } from "./down";
import type { Fault, Injection } from "./fault";
import { latency } from "./latency";
import type { NetworkEffect } from "./network-fault";
import { networkFault, serversOf, whyNoProxies } from "./network-fault";
import { resetPeer } from "./reset-peer";
import type { ServerProxy } from "./run-proxies";

const RUN = { ttlMs: 5_000, nodes: 3, fencing: true };
const reasonAgainst = (fault: Fault, strategy: string, ttlMs = RUN.ttlMs) =>
  fault.whyNotApplicable({ ...RUN, ttlMs, traits: traitsOf(strategy) });

describe("a fault of the network", () => {
  it("acts on the strategy's servers and on PostgreSQL", () => {
    assert.deepEqual(serversOf(traitsOf("redis-lock")), ["postgres", "redis"]);
    assert.deepEqual(serversOf(traitsOf("sql-guarded")), ["postgres"]);
  });

  it("that delays needs a lease that outlasts ten delays, and none of a lock without a lease", () => {
    assert.match(reasonAgainst(latency, "redis-lock", 749) ?? "", /longer than a lease of 749 ms; .*at least 750 ms/);
    assert.equal(reasonAgainst(latency, "redis-lock", 750), null);
    assert.equal(reasonAgainst(latency, "sql-row-lock", 100), null);
    assert.equal(reasonAgainst(latency, "sql-guarded", 100), null);
    assert.equal(reasonAgainst(down, "redis-lock", 100), null);
  });

  it("is not available if a store node runs on another host", () => {
    const here = ["http://127.0.0.1:3001", "http://localhost:3002", "http://[::1]:3003"];
    const nodesAt = (urls: readonly string[]) => urls.map((url, index) => ({ name: `node-${index + 1}`, url }));
    assert.equal(whyNoProxies(nodesAt(here)), null);
    assert.match(whyNoProxies(nodesAt([...here, "http://store-4:3000"])) ?? "", /^node-4 \(.*\) runs on another host/);
  });

  it("blocks a lock that never expires if it can lose the release, and leaves the others safe", () => {
    const effect = (fault: Fault, id: string) => fault.expectationOf({ ...RUN, traits: traitsOf(id) }, 1_000).effect;
    assert.deepEqual([effect(resetPeer, "redis-setnx"), effect(latency, "redis-setnx")], ["blocked", "safe"]);
    assert.deepEqual([effect(resetPeer, "redis-lock"), effect(down, "sql-advisory")], ["safe", "safe"]);
  });

  it("acts on the lock's server alone in the matrix, if a lost message can block the lock", () => {
    const serverOf = (fault: Fault, id: string) => fault.matrixSale(traitsOf(id)).faultServer;
    assert.deepEqual([serverOf(resetPeer, "redis-setnx"), serverOf(resetPeer, "redis-lock")], ["redis", undefined]);
    assert.deepEqual(
      [serverOf(latency, "redis-setnx"), serverOf(commitReplyLost, "redis-getset")],
      [undefined, undefined],
    );
  });

  it("of PostgreSQL alone blocks only the lock that waiters extend while its holder does not release it", () => {
    const isBlocked = (id: string) =>
      commitReplyLost.expectationOf({ ...RUN, traits: traitsOf(id) }, 1_000).effect === "blocked";
    assert.deepEqual([...stockStrategies.keys()].filter(isBlocked), ["redis-getset"]);
  });
});

/** Injects a fault whose proxies report these effects. */
async function inject(effects: readonly (NetworkEffect & { readonly on: Pick<ServerProxy, "node" | "server"> })[]) {
  const ended: unknown[] = [];
  const fault = networkFault({
    id: "latency",
    does: "",
    proof: "",
    durationMs: 1,
    apply: async (proxy) => async () => {
      ended.push(proxy);
      const { connections, bytes } = proxy as unknown as NetworkEffect;
      return { connections, bytes };
    },
  });
  const injection = {
    proxies: effects.map(({ on, ...proxy }) => ({ ...on, proxy })),
    durationMs: 60_000,
    untilDue: async () => {},
    closing: AbortSignal.abort(),
  };
  return { event: await fault.inject(injection as unknown as Injection), ended };
}

describe("the proof of a fault of the network", () => {
  const redis = { node: "node-1", server: "redis" } as const;
  const postgres = { node: "node-2", server: "postgres" } as const;

  it("counts the connections and bytes on which the proxies acted, by server", async () => {
    const { event, ended } = await inject([
      { on: redis, connections: 1, bytes: 80 },
      { on: { ...redis, node: "node-3" }, connections: 0, bytes: 0 },
      { on: postgres, connections: 3, bytes: 1_000 },
      { on: { ...postgres, node: "node-1" }, connections: 1, bytes: 200 },
    ]);
    const expected =
      "latency acted on 4 connections to PostgreSQL (1200 bytes) and 1 connection to Redis (80 bytes) of node-1 and node-2.";
    assert.equal(event.proof, expected);
    assert.equal(ended.length, 4);
  });

  it("does not exist if no connection was in use", async () => {
    await assert.rejects(
      inject([{ on: redis, connections: 0, bytes: 0 }]),
      /^FaultMissed: no connection of the run's nodes/,
    );
  });
});
