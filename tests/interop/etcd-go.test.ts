import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLock } from "../../lib/locks/create-lock";
import { openLockClients } from "../support/lock-clients";
import { contend } from "./contention-run";
import { buildGoProgram, skipWithoutGo } from "./go-program";
import { clientProgram } from "./other-client";

describe("etcd-lock and the Mutex of etcd's Go client", { skip: skipWithoutGo }, () => {
  it("hold one lock in turn under contention, although each Go session creates its key again and again", async () => {
    await using program = await buildGoProgram(clientProgram("go-etcd"));
    await using clients = openLockClients();
    await using ours = createLock("etcd-lock", clients);
    const launch = async (_: string, order: object) => [program.binary, JSON.stringify(order)] as const;
    const lockName = (resource: string) => `locks/${resource}`;
    const { tokens } = await contend({ ours, clients, others: ["etcd-go"], lockName, launch });
    for (const [index, token] of tokens.entries())
      assert.ok(token !== null && (index === 0 || token > (tokens[index - 1] ?? 0n)), `hold ${index}: ${token}`);
  });
});
