import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { createLock } from "../../../lib/locks/create-lock";
import { fenceKey } from "../../../lib/locks/redis/redis-fenced";
import type { LockRequest } from "../../../lib/locks/types";
import { openLockClients } from "../../support/lock-clients";
import { startOwnRedis } from "../../support/own-redis";

const fresh = (): LockRequest => ({ resource: `test:${randomUUID()}`, waitTimeoutMs: 10_000, ttlMs: 5_000 });

describe("redis-fenced", () => {
  it("counts each resource separately, in a key that never expires, and does not count contended tries", async () => {
    await using clients = openLockClients();
    await using lock = createLock("redis-fenced", clients);
    const request = fresh();
    const tokens: (bigint | null)[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      await lock.runGuarded(request, async ({ fencingToken }) => {
        tokens.push(fencingToken);
        const rejected = await lock.runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "in");
        assert.equal(rejected.status, "contended");
      });
    }
    assert.deepEqual(tokens, [1n, 2n, 3n]);
    assert.equal(fenceKey(request.resource), `redisson_lock_token:{${request.resource}}`);
    assert.equal(await clients.redis().get(fenceKey(request.resource)), "3");
    assert.equal(await clients.redis().pttl(fenceKey(request.resource)), -1);
    await lock.runGuarded(fresh(), async ({ fencingToken }) => assert.equal(fencingToken, 1n));
  });

  it("starts again at 1 after the server restarts empty: the flaw it declares", async () => {
    await using own = await startOwnRedis();
    await using clients = openLockClients({ redis: own.url });
    await using lock = createLock("redis-fenced", clients);
    const request = fresh();
    const tokenNow = async () => {
      const outcome = await lock.runGuarded(request, async ({ fencingToken }) => fencingToken);
      return outcome.status === "completed" ? outcome.value : assert.fail("contended");
    };
    assert.deepEqual([await tokenNow(), await tokenNow()], [1n, 2n]);
    await own.kill();
    await own.start();
    assert.equal(await tokenNow(), 1n);
  });
});
