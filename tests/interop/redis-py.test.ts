import { describe, it } from "node:test";
import { createRedisLock } from "../../lib/locks/redis/redis-lock";
import { openLockClients } from "../support/lock-clients";
import { contend } from "./contention-run";

describe("redis-lock and redis-py's Lock", () => {
  it("hold one lock in turn under contention, never together", async () => {
    await using clients = openLockClients();
    // As frequent as the other client is configured to poll: with polling, the client that polls more often gets more
    // grants.
    const backoff = { minMs: 1, startMs: 2, growth: 1.5, perWaiterMs: 1, maxMs: 5 };
    await using ours = createRedisLock(clients.redis(), clients, { backoff });
    await contend({ ours, clients, others: ["redis-py"], lockName: (resource) => resource });
  });
});
