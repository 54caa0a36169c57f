import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { createLock } from "../../lib/locks/create-lock";
import { lockServers, openLockClients } from "../support/lock-clients";
import { waitUntil } from "../support/wait-until";
import { contend } from "./contention-run";
import { launchInstalled, OtherClient } from "./other-client";

const lockName = (resource: string) => `/locks/${resource}`;

describe("zk-mutex and Curator's InterProcessMutex", () => {
  it("hold one lock in turn under contention, never together", async () => {
    await using clients = openLockClients();
    await using ours = createLock("zk-mutex", clients);
    await contend({ ours, clients, others: ["curator"], lockName });
  });
});

describe("zk-fenced, Curator and kazoo with Curator's node names", () => {
  it("hold one lock in turn, with rising tokens across the other clients' holds", async () => {
    await using clients = openLockClients();
    await using ours = createLock("zk-fenced", clients);
    const others = ["curator", "kazoo-curator-names"] as const;
    const { tokens } = await contend({ ours, clients, others, lockName, wantedGrants: 150 });
    for (const [index, token] of tokens.entries())
      assert.ok(token !== null && (index === 0 || token > (tokens[index - 1] ?? 0n)), `hold ${index}: ${token}`);
  });
});

describe("kazoo's own node names", () => {
  it("exclude zk-mutex but not Curator, so a fleet with Curator must rename kazoo's nodes", async () => {
    await using clients = openLockClients();
    await using ours = createLock("zk-mutex", clients);
    const request = { resource: `interop:${randomUUID()}`, waitTimeoutMs: 0, ttlMs: 5_000 };
    await ours.runGuarded(request, async () => "creates the folder");
    const connection = await clients.zookeeper().connected(AbortSignal.timeout(5_000));
    const path = lockName(request.resource);
    const kazoo = await connection.create(`${path}/${"f".repeat(32)}__lock__`, "ephemeral-sequential");
    assert.equal((await ours.runGuarded(request, async () => "entered")).status, "contended");
    const { redis: redisUrl, zookeeper: zookeeperHosts, etcd: etcdUrl } = lockServers();
    const order = { lockName: path, witnessKey: `witness:${request.resource}`, redisUrl, zookeeperHosts, etcdUrl };
    const timing = { callers: 1, holdMs: 1, longestPauseMs: 1, ttlMs: 5_000 };
    const command = await launchInstalled("curator", { ...order, ...timing });
    await using curator = new OtherClient("curator", command);
    await waitUntil(() => curator.isReady, { what: "Curator to connect", withinMs: 30_000 });
    curator.go();
    await waitUntil(() => curator.holds.length > 0, { what: "Curator to enter beside kazoo's node" });
    assert.ok(await connection.remove(kazoo));
    await clients.redis().del(order.witnessKey);
  });
});
