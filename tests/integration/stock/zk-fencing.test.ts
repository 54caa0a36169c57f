import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { isLockError } from "../../../lib/locks/errors";
import { createZkFenced } from "../../../lib/locks/zookeeper/zk-fenced";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool } from "../../../lib/services/postgres";
import { LockedStock } from "../../../lib/stock/locked-stock";
import { StockStore } from "../../../lib/stock/stock-store";
import type { OperationTrace, StockTarget } from "../../../lib/stock/types";
import { type Gate, makeGate } from "../../support/gate";
import { setEnv } from "../../support/lab-env";
import { type LockClients, lockServers, openLockClients } from "../../support/lock-clients";
import { PausedBeforeWrite } from "../../support/paused-before-write";
import { makeProduct, productFacts } from "../../support/rows";
import { startTcpRelay, type TcpRelay } from "../../support/tcp-relay";

setEnv({ STORE_NODE: "zk-fencing-test" });

describe("a holder that outlives its ZooKeeper session, under zk-fenced", () => {
  let relay: TcpRelay;
  let cutOff: LockClients;
  let clients: LockClients;
  let target: StockTarget;
  let gate: Gate;
  let paused: LockedStock;
  let next: LockedStock;

  before(async () => {
    const [host = "", port] = lockServers().zookeeper.split(",")[0]?.split(":") ?? [];
    relay = await startTcpRelay({ host, port: Number(port) });
    clients = openLockClients();
  });
  after(async () => {
    await clients[Symbol.asyncDispose]();
    await cutOff[Symbol.asyncDispose]();
    await relay.close();
    await postgresPool().end();
  });
  beforeEach(async () => {
    await cutOff?.[Symbol.asyncDispose]();
    relay.heal();
    cutOff = openLockClients({ zookeeper: `127.0.0.1:${relay.port}` });
    target = { kind: "product", id: await makeProduct(10) };
    gate = makeGate();
    paused = new LockedStock(createZkFenced(cutOff.zookeeper(), cutOff), new PausedBeforeWrite(gate));
    next = new LockedStock(createZkFenced(clients.zookeeper(), clients), new StockStore(postgresPool(), "next"));
  });

  const buy = (strategy: LockedStock, buyerId: string, fencing: boolean) => {
    const trace: OperationTrace = { opId: `zk-fencing-${buyerId}-${target.id}`, invokedNs: nowNs() };
    const limits = { quantity: 1, runId: null, holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 15_000 };
    return { outcome: strategy.reduceStock({ target, buyerId, ...limits, fencing, trace }), trace };
  };

  /** Pauses the first buyer before its write, partitions it until its session expires, and lets the second buy. */
  async function overtake(fencing: boolean) {
    const first = buy(paused, "first", fencing);
    await gate.reached;
    relay.freeze();
    const second = buy(next, "second", fencing);
    assert.equal((await second.outcome).status, "sold");
    assert.ok((first.trace.fencingToken ?? 0n) < (second.trace.fencingToken ?? 0n));
    gate.open();
    return first;
  }

  it("has its stale write rejected, and sells nothing", async () => {
    const first = await overtake(true);
    await assert.rejects(first.outcome, (error) => isLockError(error) && error.code === "fence_stale");
    assert.equal(first.trace.writeAccepted, false);
    assert.deepEqual(await productFacts(target.id), { stock: 9, orders: 1 });
  });

  it("overwrites its successor when the token is not checked: one unit is sold twice", async () => {
    const first = await overtake(false);
    assert.equal((await first.outcome).status, "sold");
    assert.deepEqual(await productFacts(target.id), { stock: 9, orders: 2 });
  });
});
