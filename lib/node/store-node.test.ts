import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ReconcileOptions, StockDrift, StockStrategy, StockTarget } from "../stock/types";
import { isOfEarlierProcess } from "./process-instance";
import type { RunAssignment, RunRoutes } from "./run-assignment";
import { StoreNode } from "./store-node";

const TARGET = { kind: "product", id: 1 } as const;
const BUYER = { buyerId: "buyer-1", quantity: 1 };
const DEFAULTS = { holdMs: 1, ttlMs: 2_000, waitTimeoutMs: 300 };
const SETTLED = { kept: 1, givenBack: 2, pending: 0, corrected: 0 };
const NO_DRIFT: StockDrift = { counter: 5, stock: 5, pending: 0, drift: 0 };

function makeAssignment(runId: string, change: Partial<RunAssignment> = {}): RunAssignment {
  return { runId, strategy: "of-run", target: TARGET, holdMs: 5, ttlMs: 6_000, waitTimeoutMs: 700, ...change };
}

/** A node whose strategies only record that they were created, prepared and disposed. */
function makeNode(historyCapacity = 10) {
  const created: string[] = [];
  const disposed: string[] = [];
  const prepared: (readonly [string, StockTarget, number])[] = [];
  const createStrategy = (id: string) => {
    if (id === "unknown") throw new Error("strategy: unknown");
    created.push(id);
    const prepare = async (target: StockTarget, stock: number) => void prepared.push([id, target, stock]);
    const asyncDispose = async () => void disposed.push(id);
    const strategy = { id, prepare, drift: async () => NO_DRIFT, [Symbol.asyncDispose]: asyncDispose };
    return strategy as unknown as StockStrategy;
  };
  const proxied: unknown[] = [];
  const createProxied = (id: string, routes: RunRoutes) => {
    proxied.push(routes);
    const strategy = {
      id: `${id} through proxies`,
      drift: async () => ({ ...NO_DRIFT, counter: 4 }),
      reconcile: async (_target: StockTarget, { isDead, journalOnly }: ReconcileOptions) =>
        isDead?.("op-1") && journalOnly ? SETTLED : null,
    } as unknown as StockStrategy;
    return { strategy, close: async () => void disposed.push(`${id} proxied`) };
  };
  const node = new StoreNode({
    name: "node-1",
    activeStrategy: "of-shop",
    createStrategy,
    createProxied,
    defaults: DEFAULTS,
    historyCapacity: () => historyCapacity,
  });
  return { node, created, disposed, prepared, proxied };
}

describe("StoreNode", () => {
  it("plans a purchase with the shop's settings, and with the run's while a run owns the target", () => {
    const { node } = makeNode();
    const ofShop = node.plan(TARGET);
    assert.deepEqual([ofShop.strategy.id, ofShop.run, ofShop.fencing], ["of-shop", null, true]);
    assert.deepEqual([ofShop.holdMs, ofShop.ttlMs, ofShop.waitTimeoutMs], [1, 2_000, 300]);
    node.assign(makeAssignment("run-1", { fencing: false }));
    const ofRun = node.plan(TARGET);
    assert.deepEqual([ofRun.strategy.id, ofRun.run?.assignment.runId, ofRun.fencing], ["of-run", "run-1", false]);
    assert.deepEqual([ofRun.holdMs, ofRun.ttlMs, ofRun.waitTimeoutMs], [5, 6_000, 700]);
    assert.equal(node.plan({ kind: "product", id: 2 }).run, null);
    node.close("run-1");
    assert.equal(node.plan(TARGET).run, null);
  });

  it("serves a run with proxies through separate clients, which it closes when it forgets the run", async () => {
    const { node, created, disposed, proxied } = makeNode();
    const proxyPorts = { "node-1": { postgres: [26_001] }, "node-2": { postgres: [26_002] } };
    node.assign(makeAssignment("run-1", { proxyPorts }));
    assert.deepEqual(proxied, [{ ports: { postgres: [26_001] }, addresses: {} }]);
    assert.equal(node.plan(TARGET).strategy.id, "of-run through proxies");
    assert.equal(node.plan({ kind: "product", id: 2 }).strategy.id, "of-shop");
    assert.deepEqual(
      await node.drift("run-1"),
      { ...NO_DRIFT, counter: 4 },
      "expected the drift from the strategy that sold",
    );
    assert.deepEqual(await node.settle("run-1"), SETTLED, "expected entries of any age, and no other correction");
    assert.deepEqual(created, ["of-run", "of-shop"]);
    node.close("run-1");
    assert.deepEqual(disposed, []);
    node.forget("run-1");
    assert.deepEqual(disposed, ["of-run proxied"]);
  });

  it("moves an open run to proxies: new purchases use them, a purchase in progress keeps its clients", async () => {
    const { node, disposed, proxied } = makeNode();
    const ports = (port: number) => ({ "node-1": { redis: [port] } });
    assert.equal(node.reroute("run-1", ports(26_001)), false, "expected no switch of an unknown run");
    node.reserve(makeAssignment("run-1"));
    assert.equal(node.reroute("run-1", ports(26_001)), false, "expected no switch before the run is open");
    node.open("run-1");
    const before = node.plan(TARGET);
    assert.equal(node.reroute("run-1", ports(26_001)), true);
    const during = node.plan(TARGET);
    assert.deepEqual([before.strategy.id, during.strategy.id], ["of-run", "of-run through proxies"]);
    assert.equal(before.strategy, node.strategy("of-run"));
    assert.ok(node.isCurrent(before) && before.meter === during.meter, "expected both to belong to the run");
    node.reroute("run-1", ports(26_001));
    assert.equal(node.plan(TARGET).strategy, during.strategy, "expected the same clients for the same proxies");
    node.reroute("run-1", ports(26_002));
    assert.notEqual(node.plan(TARGET).strategy, during.strategy);
    assert.deepEqual(proxied, [
      { ports: { redis: [26_001] }, addresses: {} },
      { ports: { redis: [26_002] }, addresses: {} },
    ]);
    node.close("run-1");
    assert.equal(node.reroute("run-1", ports(26_003)), false, "expected no switch of a closed run");
    assert.deepEqual(disposed, [], "expected open clients while the run may have purchases in flight");
    node.forget("run-1");
    assert.deepEqual(disposed, ["of-run proxied", "of-run proxied"]);
  });

  it("keeps its clients if those for the proxies cannot be opened", () => {
    const node = new StoreNode({
      name: "node-1",
      activeStrategy: "of-shop",
      createStrategy: (id) => ({ id }) as unknown as StockStrategy,
      createProxied: () => {
        throw new Error("Redis is not configured");
      },
      defaults: DEFAULTS,
    });
    node.assign(makeAssignment("run-1"));
    assert.throws(() => node.reroute("run-1", { "node-1": { redis: [26_001] } }), /Redis is not configured/);
    assert.equal(node.plan(TARGET).strategy, node.strategy("of-run"));
  });

  it("serves a run with servers of a topology through separate clients", async () => {
    const { node, proxied } = makeNode();
    const serverAddresses = { redis: "redis+sentinel://127.0.0.1:16482/lab" };
    node.assign(makeAssignment("run-1", { serverAddresses }));
    assert.deepEqual(proxied, [{ ports: {}, addresses: serverAddresses }]);
    assert.equal(node.plan(TARGET).strategy.id, "of-run through proxies");
  });

  it("serves a run whose proxies are for other nodes with the clients of the process", () => {
    const { node, proxied } = makeNode();
    node.assign(makeAssignment("run-1", { proxyPorts: { "node-2": { postgres: [26_002] } } }));
    assert.equal(node.plan(TARGET).strategy, node.strategy("of-run"));
    assert.deepEqual(proxied, []);
  });

  it("closes the clients of a run with proxies when it is disposed", async () => {
    const { node, disposed } = makeNode();
    node.assign(makeAssignment("run-1", { proxyPorts: { "node-1": { postgres: [26_001] } } }));
    await node[Symbol.asyncDispose]();
    assert.deepEqual(disposed, ["of-run proxied", "of-run"]);
  });

  it("calls a plan outdated once a run of its target starts or ends", () => {
    const { node } = makeNode();
    const before = node.plan(TARGET);
    const ofOtherTarget = node.plan({ kind: "product", id: 2 });
    assert.equal(node.isCurrent(before), true);
    node.assign(makeAssignment("run-1"));
    const during = node.plan(TARGET);
    assert.deepEqual([node.isCurrent(before), node.isCurrent(during)], [false, true]);
    node.close("run-1");
    assert.deepEqual(
      [node.isCurrent(before), node.isCurrent(during)],
      [false, false],
      "expected no sale of a counted row",
    );
    node.forget("run-1");
    assert.deepEqual([node.isCurrent(before), node.isCurrent(during)], [true, false]);
    assert.equal(node.isCurrent(ofOtherTarget), true);
  });

  it("keeps the first run if the same run is assigned again", () => {
    const { node } = makeNode();
    node.assign(makeAssignment("run-1"));
    const run = node.run("run-1");
    node.assign(makeAssignment("run-1", { holdMs: 99 }));
    assert.equal(node.run("run-1"), run);
    assert.equal(node.plan(TARGET).holdMs, 5);
  });

  it("holds the target for a run from the reservation to the verdict, except while the run is open", () => {
    const { node } = makeNode();
    assert.equal(node.runHolding(TARGET), null);
    node.reserve(makeAssignment("run-1"));
    assert.deepEqual([node.runHolding(TARGET), node.plan(TARGET).run], ["run-1", null]);
    node.open("run-1");
    assert.equal(node.runHolding(TARGET), null);
    node.close("run-1");
    assert.equal(node.runHolding(TARGET), "run-1");
    node.open("run-1");
    assert.equal(node.runHolding(TARGET), "run-1", "expected a closed run to stay closed");
    node.forget("run-1");
    assert.equal(node.runHolding(TARGET), null);
    assert.equal(node.open("run-1"), false);
  });

  it("reports the shop's work on a target that a run must wait for", () => {
    const { node } = makeNode();
    const plan = node.plan(TARGET);
    const ofOtherTarget = node.plan({ kind: "product", id: 2 });
    for (const each of [plan, plan, ofOtherTarget]) node.enterShopWork(each);
    assert.equal(node.reserve(makeAssignment("run-1")), 2);
    node.leaveShopWork(plan);
    assert.equal(node.reserve(makeAssignment("run-1")), 1);
    node.leaveShopWork(plan);
    assert.equal(node.reserve(makeAssignment("run-1")), 0);
  });

  it("keeps the newer run of a target if the older one is closed afterwards", () => {
    const { node } = makeNode();
    node.assign(makeAssignment("run-1"));
    node.assign(makeAssignment("run-2"));
    assert.equal(node.close("run-1"), true);
    node.forget("run-1");
    assert.equal(node.plan(TARGET).run?.assignment.runId, "run-2");
    assert.equal(node.runHolding(TARGET), null);
    assert.equal(node.close("unknown"), false);
  });

  it("forgets a closed run when the next one is reserved, but none that is open or has purchases in flight", () => {
    const { node } = makeNode();
    const targetOf = (id: number) => ({ kind: "product", id }) as const;
    node.assign(makeAssignment("open", { target: targetOf(100) }));
    node.assign(makeAssignment("in-flight", { target: targetOf(101) }));
    node.run("in-flight")?.meter.begin(node.newTrace(), BUYER);
    node.close("in-flight");
    for (let id = 1; id <= 3; id += 1) {
      node.assign(makeAssignment(`run-${id}`, { target: targetOf(id) }));
      node.close(`run-${id}`);
    }
    assert.deepEqual(
      node.allRuns().map(({ assignment }) => assignment.runId),
      ["open", "in-flight", "run-3"],
    );
  });

  it("counts operations beyond the recorder's capacity as dropped", () => {
    const { node } = makeNode(1);
    node.assign(makeAssignment("run-1"));
    const facts = { buyerId: "buyer", quantity: 1, outcome: "sold" } as const;
    for (let count = 0; count < 3; count += 1) node.run("run-1")?.recorder.record(node.newTrace(), facts);
    const { recorded, dropped } = node.stats("run-1") ?? {};
    assert.deepEqual([recorded, dropped], [1, 2]);
    assert.equal(node.stats("unknown"), undefined);
  });

  it("counts the waiters of runs and of the shop", () => {
    const { node } = makeNode();
    node.assign(makeAssignment("run-1"));
    for (const target of [TARGET, { kind: "product", id: 2 } as const]) {
      node.plan(target).meter.begin({ ...node.newTrace(), waitNs: 1n }, BUYER);
    }
    assert.deepEqual([node.countWaiters(), node.stats("run-1")?.waiters], [2, 1]);
  });

  it("creates each strategy once and disposes all of them", async () => {
    const { node, created, disposed, prepared } = makeNode();
    node.plan(TARGET);
    node.plan(TARGET);
    await node.prepare("run-1", { strategy: "of-run", target: TARGET, stock: 5 });
    node.assign(makeAssignment("run-1"));
    assert.deepEqual(await node.drift("run-1"), NO_DRIFT);
    assert.equal(await node.drift("unknown"), null);
    assert.equal(await node.settle("unknown"), null);
    assert.deepEqual([created, prepared], [["of-shop", "of-run"], [["of-run", TARGET, 5]]]);
    await node[Symbol.asyncDispose]();
    assert.deepEqual(disposed, ["of-shop", "of-run"]);
  });

  it("keeps its active strategy if it cannot switch to another", () => {
    const { node } = makeNode();
    assert.throws(() => node.switchStrategy("unknown"), /unknown/);
    assert.equal(node.activeStrategy, "of-shop");
    node.switchStrategy("other");
    assert.deepEqual([node.activeStrategy, node.plan(TARGET).strategy.id], ["other", "other"]);
  });

  it("tells its operations from those of an earlier process", () => {
    const { node } = makeNode();
    const [first, second] = [node.newTrace(), node.newTrace()];
    assert.notEqual(first.opId, second.opId);
    assert.equal(isOfEarlierProcess("node-1", first.opId), false);
    assert.equal(isOfEarlierProcess("node-1", "node-1-999999.abc-5"), true);
    assert.equal(isOfEarlierProcess("node-1", "node-10-999999.abc-5"), false);
    assert.equal(isOfEarlierProcess("node-1", "node-1-5"), false);
  });
});
