import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLock } from "../../lib/locks/registry";
import { openLockClients } from "../support/lock-clients";
import { contend } from "./contest";

const lockName = (resource: string) => `/locks/${resource}`;

describe("zk-mutex and Curator's InterProcessMutex", () => {
  it("hold one lock in turn under contention, never together", async () => {
    await using clients = openLockClients();
    await using ours = createLock("zk-mutex", clients);
    await contend({ ours, clients, others: ["curator"], lockName });
  });
});

describe("zk-fenced, Curator and kazoo with Curator's node names", () => {
  it("hold one lock in turn, with tokens that rise whoever was in between", async () => {
    await using clients = openLockClients();
    await using ours = createLock("zk-fenced", clients);
    const others = ["curator", "kazoo-curator-names"] as const;
    const { tokens } = await contend({ ours, clients, others, lockName, wantedGrants: 150 });
    for (const [index, token] of tokens.entries())
      assert.ok(token !== null && (index === 0 || token > (tokens[index - 1] ?? 0n)), `hold ${index}: ${token}`);
  });
});
