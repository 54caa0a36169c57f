import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../../lib/locks/clock";
import { createLock } from "../../../lib/locks/create-lock";
import { isLockError } from "../../../lib/locks/errors";
import { createMemcachedAdd } from "../../../lib/locks/memcached/memcached-add";
import { openMemcached } from "../../../lib/locks/memcached/memcached-client";
import { isMemcachedError } from "../../../lib/locks/memcached/memcached-port";
import type { LockRequest } from "../../../lib/locks/types";
import { type LockClients, lockServers, openLockClients } from "../../support/lock-clients";
import { startOwnMemcached } from "../../support/own-memcached";
import { waitUntil } from "../../support/wait-until";

const fresh = (overrides: Partial<LockRequest> = {}): LockRequest => ({
  resource: `test:${randomUUID()}`,
  waitTimeoutMs: 10_000,
  ttlMs: 5_000,
  ...overrides,
});

/** Waits until this fraction of a second of the host's monotonic clock, in milliseconds. */
async function untilInSecond(fractionMs: number): Promise<void> {
  const nowMs = Number(process.hrtime.bigint() / 1_000_000n) % 1_000;
  await systemClock.sleep((fractionMs - nowMs + 1_000) % 1_000);
}

const isConfig = (error: unknown) => isLockError(error) && error.code === "config_invalid";

describe("memcached-add", () => {
  let clients: LockClients;
  before(() => {
    clients = openLockClients();
  });
  after(() => clients[Symbol.asyncDispose]());

  const storedHolder = async ({ resource }: LockRequest) => (await clients.memcached().gets(resource))?.value ?? null;

  it("stores the holder under the resource's name, and nothing after the release", async () => {
    const request = fresh();
    await createLock("memcached-add", clients).runGuarded(request, async ({ holderId }) => {
      assert.equal(await storedHolder(request), holderId);
    });
    assert.equal(await storedHolder(request), null);
  });

  it("stops trusting its lease before the server expires it, at any point of the server's second", async () => {
    const lock = createMemcachedAdd(clients.memcached(), clients, { watchdog: false });
    const holds = Array.from({ length: 10 }, async (_, index) => {
      await clients.clock.sleep(index * 100);
      const own = fresh({ ttlMs: 1_000 });
      return lock.runGuarded(own, async ({ signal }) => {
        const grantedMs = clients.clock.nowMs();
        await waitUntil(async () => (await storedHolder(own)) === null, { what: "the server to expire it" });
        const keptMs = clients.clock.nowMs() - grantedMs;
        // In a process that was held up, the end of the lease may still have to strike: it is due before this is.
        await clients.clock.sleep(0);
        // In a process that was delayed, the timer of the lease may not have fired yet. It is due before this check.
        assert.ok(
          signal.aborted,
          `the item expired while the holder still trusted it, ${index * 100} ms into the second`,
        );
        return keptMs;
      });
    });
    for (const outcome of await Promise.all(holds)) {
      assert.ok(outcome.status === "completed" && outcome.lease === "lost");
      assert.ok(
        outcome.value < 8_000,
        `expected the item to expire within 8000 ms, found ${Math.round(outcome.value)} ms`,
      );
    }
  });

  it("signals the loss to a holder whose item another client replaced, and does not touch the new item", async () => {
    const request = fresh({ ttlMs: 600 });
    const outcome = await createLock("memcached-add", clients).runGuarded(request, async ({ signal }) => {
      await clients.memcached().set({ key: request.resource, value: "another", expirySeconds: 60 });
      await clients.clock.sleep(5_000, signal);
      return signal.aborted;
    });
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "lost");
    assert.equal(await storedHolder(request), "another");
  });

  it("rejects a TTL that Memcached would read as a date", async () => {
    const month = fresh({ ttlMs: 31 * 24 * 60 * 60 * 1_000 });
    const call = createLock("memcached-add", clients).runGuarded(month, async () => assert.fail("granted"));
    await assert.rejects(call, isConfig);
  });

  it("keeps its item for the lease although the server's clock skips a second", async () => {
    await using server = await startOwnMemcached();
    await using own = openLockClients({ memcached: server.url });
    const lock = createMemcachedAdd(own.memcached(), own, { watchdog: false });
    const secondsOf = async () => Number(/STAT uptime (\d+)/.exec(await server.send("stats"))?.[1]);
    let skipped = 0;
    for (let round = 0; round < 5 && skipped === 0; round += 1) {
      const request = fresh({ ttlMs: 1_000 });
      // The overdue timer fires as soon as the server continues, and from then on once a second.
      await untilInSecond(930);
      await server.pause();
      await systemClock.sleep(1_000);
      await untilInSecond(950);
      server.resume();
      await untilInSecond(850);
      const held = lock.runGuarded(request, async ({ signal }) => {
        const before = await secondsOf();
        // The timer is due within this pause, and the next second begins in it.
        await server.pause();
        await untilInSecond(30);
        server.resume();
        skipped = (await secondsOf()) - before - 1;
        const isStored = (await own.memcached().gets(request.resource)) !== null;
        assert.ok(isStored || signal.aborted, "the item expired while the holder still trusted it");
      });
      assert.equal((await held).status, "completed");
    }
    assert.ok(skipped > 0, "expected the server's clock to skip a second");
  });

  it("grants a second holder after flush_all: the flaw it demonstrates", async () => {
    await using server = await startOwnMemcached();
    await using own = openLockClients({ memcached: server.url });
    const lock = createLock("memcached-add", own);
    const request = fresh();
    const first = await lock.runGuarded(request, async () => {
      assert.equal((await lock.runGuarded({ ...request, waitTimeoutMs: 0 }, async () => 1)).status, "contended");
      assert.equal(await server.send("flush_all"), "OK\r\n");
      return lock.runGuarded(request, async () => "second holder");
    });
    assert.ok(first.status === "completed" && first.value.status === "completed");
    assert.equal(first.lease, "lost");
  });
});

describe("openMemcached", () => {
  it("rejects invalid addresses", () => {
    for (const url of ["", "http://127.0.0.1:11211", "memcached://", "127.0.0.1:port", "a b:1"]) {
      assert.throws(() => openMemcached(url), isConfig, url);
    }
  });

  it("does not reconnect after it is closed", async () => {
    const client = openMemcached(lockServers().memcached);
    await client.gets("test:nothing");
    await client[Symbol.asyncDispose]();
    await assert.rejects(client.gets("test:nothing"), (error) => isMemcachedError(error, "refused"));
  });

  it("returns the server's answer to each command", async () => {
    await using clients = openLockClients();
    const client = clients.memcached();
    const key = `test:${randomUUID()}`;
    assert.equal(await client.gets(key), null);
    assert.equal(await client.increment(key, 1), null);
    assert.equal(await client.add({ key, value: "7", expirySeconds: 60 }), true);
    assert.equal(await client.add({ key, value: "8", expirySeconds: 60 }), false);
    const version = await client.gets(key);
    assert.ok(version?.value === "7");
    assert.equal(await client.increment(key, 2), 9);
    assert.equal(await client.cas({ key, value: "6", expirySeconds: 60 }, version), "changed");
    const current = await client.gets(key);
    assert.ok(current?.value === "9");
    assert.equal(await client.cas({ key, value: "6", expirySeconds: -1 }, current), "stored");
    assert.equal(await client.cas({ key, value: "5", expirySeconds: 60 }, current), "gone");
    await assert.rejects(client.gets("x".repeat(300)), (error) => isMemcachedError(error, "refused"));
  });
});
