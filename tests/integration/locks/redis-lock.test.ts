import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { isLockError } from "../../../lib/locks/errors";
import { createRedisLock } from "../../../lib/locks/redis/redis-lock";
import { createLock } from "../../../lib/locks/registry";
import type { LockRequest } from "../../../lib/locks/types";
import { openLockClients } from "../../support/lock-clients";
import { startOwnRedis } from "../../support/own-redis";
import { startTcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";

const fresh = (overrides: Partial<LockRequest> = {}): LockRequest => ({
  resource: `test:${randomUUID()}`,
  waitTimeoutMs: 10_000,
  ttlMs: 5_000,
  ...overrides,
});

const isUnavailable = (error: unknown) => isLockError(error) && error.code === "backend_unavailable";

describe("redis-lock", () => {
  it("keeps the holder under the resource's own name, as redis-py does", async () => {
    await using clients = openLockClients();
    const request = fresh();
    await createLock("redis-lock", clients).runGuarded(request, async ({ holderId }) => {
      assert.equal(await clients.redis().get(request.resource), holderId);
      const leftMs = await clients.redis().pttl(request.resource);
      assert.ok(leftMs > 4_000 && leftMs <= 5_000, `${leftMs} ms`);
    });
    assert.equal(await clients.redis().exists(request.resource), 0);
  });

  it("renews its lease while the section takes longer than the TTL", async () => {
    await using clients = openLockClients();
    const request = fresh({ ttlMs: 300 });
    const outcome = await createLock("redis-lock", clients).runGuarded(request, async ({ holderId }) => {
      await clients.clock.sleep(1_200);
      return (await clients.redis().get(request.resource)) === holderId;
    });
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "held");
  });

  it("frees nobody else's hold after its own lease ran out", async () => {
    await using clients = openLockClients();
    const lock = createRedisLock(clients.redis(), clients, { watchdog: false });
    const request = fresh({ ttlMs: 200 });
    const slow = lock.runGuarded(request, async ({ signal }) => {
      await clients.clock.sleep(500);
      return signal.aborted;
    });
    const second = await lock.runGuarded({ ...request, ttlMs: 2_000 }, async ({ holderId }) => {
      const first = await slow;
      assert.ok(first.status === "completed" && first.value && first.lease === "lost");
      return (await clients.redis().get(request.resource)) === holderId;
    });
    assert.ok(second.status === "completed" && second.value && second.lease === "held");
  });

  it("signals the holder whose key an operator has deleted", async () => {
    await using clients = openLockClients();
    const request = fresh({ ttlMs: 300 });
    const outcome = await createLock("redis-lock", clients).runGuarded(request, async ({ signal }) => {
      await clients.redis().del(request.resource);
      await clients.clock.sleep(5_000, signal);
      return signal.aborted;
    });
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "lost");
  });

  it("never lengthens the lease after a release, however short the hold", async () => {
    await using clients = openLockClients();
    const lock = createLock("redis-lock", clients);
    const request = fresh({ ttlMs: 30 });
    for (let turn = 0; turn < 100; turn++) {
      // Ends about when the renewal is due.
      await lock.runGuarded(request, () => clients.clock.sleep(9 + (turn % 3)));
      assert.equal(await clients.redis().exists(request.resource), 0);
    }
  });

  it("names the server as unavailable when nothing listens", async () => {
    await using clients = openLockClients({ redisUrl: "redis://127.0.0.1:1" });
    const startedMs = performance.now();
    await assert.rejects(
      createLock("redis-lock", clients).runGuarded(fresh(), async () => 1),
      isUnavailable,
    );
    assert.ok(performance.now() - startedMs < 8_000);
  });

  it("names the server as unavailable when it swallows everything, also for a hold that is being released", async () => {
    await using server = await startOwnRedis();
    const relay = await startTcpRelay({ host: "127.0.0.1", port: Number(new URL(server.url).port) });
    await using clients = openLockClients({ redisUrl: `redis://127.0.0.1:${relay.port}` });
    const lock = createLock("redis-lock", clients);
    const held = await lock.runGuarded(fresh(), async () => relay.freeze());
    assert.ok(held.status === "completed" && held.timings.releaseMs < 2_000);
    assert.deepEqual(
      clients.incidents.map(({ kind }) => kind),
      ["release_failed"],
    );
    const startedMs = performance.now();
    await assert.rejects(
      lock.runGuarded(fresh(), async () => 1),
      isUnavailable,
    );
    assert.ok(performance.now() - startedMs < 9_000);
    await relay.close();
  });

  it("takes back an acquire that the server carries out after the caller has gone", async () => {
    await using server = await startOwnRedis();
    await using clients = openLockClients({ redisUrl: server.url });
    const lock = createLock("redis-lock", clients);
    await lock.runGuarded(fresh(), async () => "connected");
    const request = fresh({ waitTimeoutMs: 200, ttlMs: 60_000 });
    server.pause();
    await assert.rejects(
      lock.runGuarded(request, async () => 1),
      isUnavailable,
    );
    server.resume();
    await waitUntil(async () => /cmdstat_set:calls=2/.test(await server.probe.info("commandstats")), {
      what: "the late SET to be carried out",
    });
    await waitUntil(async () => (await server.probe.exists(request.resource)) === 0, { what: "it to be taken back" });
  });

  it("tells a waiter of a server that died and stays away", async () => {
    await using server = await startOwnRedis();
    await using clients = openLockClients({ redisUrl: server.url });
    const lock = createLock("redis-lock", clients);
    const request = fresh();
    const outcome = await lock.runGuarded(request, async () => {
      const waiting = lock.runGuarded(request, async () => 1);
      await server.kill();
      await assert.rejects(waiting, isUnavailable);
      return "survived";
    });
    assert.ok(outcome.status === "completed" && outcome.value === "survived");
  });

  it("waits out a short restart, after which the lock of a server without data is free", async () => {
    await using server = await startOwnRedis();
    await using clients = openLockClients({ redisUrl: server.url });
    const lock = createLock("redis-lock", clients);
    const request = fresh();
    await lock.runGuarded(request, async () => {
      const waiting = lock.runGuarded(request, async () => "second holder");
      await server.kill();
      await server.start();
      // The known flaw: nobody but the first holder remembers the first hold.
      assert.equal((await waiting).status, "completed");
    });
  });
});
