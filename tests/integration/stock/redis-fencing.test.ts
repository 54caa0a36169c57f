import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { isLockError } from "../../../lib/locks/errors";
import { createRedisFenced, fenceKey } from "../../../lib/locks/redis/redis-fenced";
import { StoreNode } from "../../../lib/node/store-node";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { purchase } from "../../../lib/shop/purchase";
import { LockedStock } from "../../../lib/stock/locked-stock";
import { StockStore } from "../../../lib/stock/stock-store";
import { type OperationTrace, resourceOf, type StockTarget } from "../../../lib/stock/types";
import { type Gate, makeGate } from "../../support/gate";
import { setEnv } from "../../support/lab-env";
import { type LockClients, openLockClients } from "../../support/lock-clients";
import { PausedBeforeWrite } from "../../support/paused-before-write";
import { makeProduct, productFacts } from "../../support/rows";

setEnv({ STORE_NODE: "fencing-test" });

describe("a holder paused past its lease, under redis-fenced", () => {
  let clients: LockClients;
  let target: StockTarget;
  let gate: Gate;
  let paused: LockedStock;
  let next: LockedStock;
  let operations = 0;

  before(() => {
    clients = openLockClients();
  });
  after(async () => {
    await clients[Symbol.asyncDispose]();
    await postgresPool().end();
  });
  beforeEach(async () => {
    target = { kind: "product", id: await makeProduct(10) };
    gate = makeGate();
    // A paused process does not renew its lease.
    const lock = createRedisFenced(clients.redis(), clients, { watchdog: false });
    paused = new LockedStock(lock, new PausedBeforeWrite(gate));
    const store = new StockStore(postgresPool(), "next");
    next = new LockedStock(createRedisFenced(clients.redis(), clients), store);
  });

  function newTrace(): OperationTrace {
    operations += 1;
    return { opId: `fencing-${process.pid}-${operations}`, invokedNs: nowNs() };
  }
  const buy = (strategy: LockedStock, buyerId: string, fencing?: boolean) => {
    const trace = newTrace();
    const limits = { quantity: 1, runId: null, holdMs: 0, ttlMs: 60_000, waitTimeoutMs: 5_000 };
    const outcome = strategy.reduceStock({
      target,
      buyerId,
      ...limits,
      ...(fencing === undefined ? {} : { fencing }),
      trace,
    });
    return { outcome, trace };
  };

  /** Pauses the first buyer before its write, ends its lease, and lets the second buy. */
  async function overtake(fencing?: boolean) {
    const first = buy(paused, "first", fencing);
    await gate.reached;
    assert.equal(await clients.redis().del(resourceOf(target)), 1, "expected the first buyer to hold the lock");
    const second = buy(next, "second", fencing);
    assert.equal((await second.outcome).status, "sold");
    assert.deepEqual([first.trace.fencingToken, second.trace.fencingToken], [1n, 2n]);
    gate.open();
    return first;
  }

  it("has its stale write rejected, and sells nothing", async () => {
    const first = await overtake();
    await assert.rejects(first.outcome, (error) => isLockError(error) && error.code === "fence_stale");
    assert.equal(first.trace.writeAccepted, false);
    assert.deepEqual(await productFacts(target.id), { stock: 9, orders: 1 });
  });

  it("overwrites its successor when the token is not checked: one unit is sold twice", async () => {
    const first = await overtake(false);
    assert.equal((await first.outcome).status, "sold");
    assert.deepEqual(await productFacts(target.id), { stock: 9, orders: 2 });
  });

  it("is rejected at its read when the row already has a newer token", async () => {
    await prisma().product.update({ where: { id: target.id }, data: { fence: 7 } });
    await clients.redis().set(fenceKey(resourceOf(target)), 5);
    await assert.rejects(
      buy(next, "late").outcome,
      (error) => isLockError(error) && error.code === "fence_stale" && error.isDefinite,
    );
    assert.equal((await buy(next, "unfenced", false).outcome).status, "sold");
    assert.deepEqual(await productFacts(target.id), { stock: 9, orders: 1 });
  });

  it("has its token checked or not, as its run says", async () => {
    await using node = new StoreNode({
      name: "fencing-test",
      activeStrategy: "redis-fenced",
      createStrategy: () => next,
      defaults: { holdMs: 0, ttlMs: 60_000, waitTimeoutMs: 5_000 },
    });
    const buyIn = (runId: string) => {
      const plan = node.plan(target);
      assert.equal(plan.run?.assignment.runId, runId);
      return purchase(node, plan, { target, buyerId: `buyer-of-${runId}`, quantity: 1 });
    };
    const assignment = { strategy: "redis-fenced", target, holdMs: 0, ttlMs: 60_000, waitTimeoutMs: 5_000 };
    await prisma().product.update({ where: { id: target.id }, data: { fence: 1_000 } });
    node.assign({ ...assignment, runId: "fenced" });
    await assert.rejects(buyIn("fenced"), /newer holder/);
    node.close("fenced");
    node.assign({ ...assignment, runId: "unfenced", fencing: false });
    assert.equal((await buyIn("unfenced")).outcome.status, "sold");
  });
});
