import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { after, before, beforeEach, describe, it } from "node:test";
import { Redis } from "ioredis";
import { createLock } from "../../../lib/locks/create-lock";
import { isLockError } from "../../../lib/locks/errors";
import { redisOptionsForSubscriber } from "../../../lib/locks/redis/redis-options";
import type { RedisCommands } from "../../../lib/locks/redis/redis-port";
import { createRedisReentrant } from "../../../lib/locks/redis/redis-reentrant";
import { shareSubscriber } from "../../../lib/locks/redis/redis-subscriber";
import { lockScript, UNLOCK_MESSAGE, unlockChannel, unlockScript } from "../../../lib/locks/redis/redisson-protocol";
import type { LockIncident } from "../../../lib/locks/runner-context";
import type { LockRequest, LockStrategy } from "../../../lib/locks/types";
import { makeGate } from "../../support/gate";
import { type LockClients, lockServers, openLockClients } from "../../support/lock-clients";
import { startTcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";

/** Far below the 30 s TTL that a waiter without a message waits for, and far above the delays of a busy machine. */
const PROMPT_MS = 8_000;
/** The server counts whole milliseconds on a different clock. */
const CLOCKS_APART_MS = 5;

describe("redis-reentrant", () => {
  let clients: LockClients;
  let lock: LockStrategy;
  let request: LockRequest;

  before(() => {
    clients = openLockClients();
    lock = createLock("redis-reentrant", clients);
  });
  after(async () => {
    await lock[Symbol.asyncDispose]();
    await clients[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    request = { resource: `test:${randomUUID()}`, waitTimeoutMs: 10_000, ttlMs: 30_000 };
  });

  const hash = () => clients.redis().hgetall(request.resource);
  const listeners = async () => Number((await clients.redis().pubsub("NUMSUB", unlockChannel(request.resource)))[1]);
  const untilSubscribed = () => waitUntil(async () => (await listeners()) > 0, { what: "a waiter's subscription" });

  const takeForAnother = (resource: string, ttlMs: number) =>
    clients.redis().eval(lockScript.source, 1, resource, ttlMs, "another:1");

  function stay(overrides: Partial<LockRequest> = {}) {
    const inside = makeGate();
    const call = lock.runGuarded({ ...request, ...overrides }, () => inside.pass());
    return { entered: inside.reached, leave: () => inside.open(), call };
  }

  describe("on the wire", () => {
    it("is a hash of one field, <client UUID>:<thread>, whose value is the hold count", async () => {
      await lock.runGuarded(request, async (grant) => {
        const [[field = "", count] = [], ...others] = Object.entries(await hash());
        assert.deepEqual(others, []);
        assert.match(field, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:\d+$/);
        assert.equal(count, "1");
        const leftMs = await clients.redis().pttl(request.resource);
        assert.ok(leftMs > 25_000 && leftMs <= 30_000, `PTTL ${leftMs}`);
        await grant.runNested(async (again) => {
          assert.deepEqual(await hash(), { [field]: "2" });
          await again.runNested(async () => assert.deepEqual(await hash(), { [field]: "3" }));
        });
        assert.deepEqual(await hash(), { [field]: "1" });
      });
      assert.equal(await clients.redis().exists(request.resource), 0);
    });

    it("uses one client UUID for all holds and a separate thread id for each", async () => {
      const fields: string[] = [];
      for (const turn of [1, 2]) {
        const { resource } = request;
        await lock.runGuarded({ ...request, resource: `${resource}.${turn}` }, async () => {
          fields.push(...(await clients.redis().hkeys(`${resource}.${turn}`)));
        });
      }
      const [first, second] = fields.map((field) => field.split(":"));
      assert.equal(first?.[0], second?.[0]);
      assert.notEqual(first?.[1], second?.[1]);
    });

    it("publishes 0 on redisson_lock__channel:{name} at the last release, and nothing at a nested one", async () => {
      const messages: string[] = [];
      const listener = new Redis(lockServers().redis);
      try {
        listener.on("message", (_channel, text: string) => messages.push(text));
        await listener.subscribe(`redisson_lock__channel:{${request.resource}}`);
        await lock.runGuarded(request, async (grant) => {
          await grant.runNested(async () => {});
          assert.deepEqual(messages, []);
        });
        await waitUntil(() => messages.length > 0, { what: "the message" });
        assert.deepEqual(messages, ["0"]);
      } finally {
        listener.disconnect();
      }
    });

    it("does not add braces to a name that has braces", () => {
      assert.equal(unlockChannel("a{b}c"), "redisson_lock__channel:a{b}c");
    });

    it("returns nil to the holder, and the remaining TTL to other callers", async () => {
      const { resource } = request;
      const lockAs = (field: string) => clients.redis().eval(lockScript.source, 1, resource, 5_000, field);
      const unlockAs = (field: string) =>
        clients.redis().eval(unlockScript.source, 2, resource, unlockChannel(resource), UNLOCK_MESSAGE, 5_000, field);
      assert.equal(await lockAs("a:1"), null);
      assert.equal(await lockAs("a:1"), null);
      const leftMs = Number(await lockAs("a:2"));
      assert.ok(leftMs > 1_000 && leftMs <= 5_000, `${leftMs} ms`);
      assert.equal(await unlockAs("a:2"), null);
      assert.equal(await unlockAs("a:1"), 0);
      assert.equal(await unlockAs("a:1"), 1);
      assert.equal(await unlockAs("a:1"), null);
    });
  });

  it("wakes a waiter by a message, long before the TTL", async () => {
    const holder = stay();
    await holder.entered;
    const waiter = lock.runGuarded(request, async () => performance.now());
    await untilSubscribed();
    const releasedMs = performance.now();
    holder.leave();
    const outcome = await waiter;
    assert.ok(outcome.status === "completed");
    assert.ok(outcome.value - releasedMs < PROMPT_MS, `${outcome.value - releasedMs} ms`);
    assert.ok(outcome.timings.attempts <= 3, `${outcome.timings.attempts} attempts`);
  });

  it("wakes one waiter per release and process, so attempts stay proportional to grants", async () => {
    const holder = stay();
    await holder.entered;
    const calls = Array.from({ length: 20 }, () => lock.runGuarded(request, async () => {}));
    await untilSubscribed();
    holder.leave();
    const attempts = (await Promise.all(calls)).map((outcome) =>
      outcome.status === "completed" ? outcome.timings.attempts : assert.fail("contended"),
    );
    const total = attempts.reduce((sum, count) => sum + count, 0);
    assert.ok(total <= 4 * calls.length, `expected at most ${4 * calls.length} attempts, found ${total}`);
    await waitUntil(async () => (await listeners()) === 0, { what: "the subscription to end with the last waiter" });
  });

  it("waits only the remaining TTL if the message is lost", async () => {
    const ttlMs = 1_000;
    const takenMs = performance.now();
    // Another client acquires the lock and crashes, so no message follows.
    await takeForAnother(request.resource, ttlMs);
    const outcome = await lock.runGuarded(request, async () => performance.now() - takenMs);
    // Not the caller's own TTL of 30 s: its wait would have timed out before.
    assert.ok(outcome.status === "completed", "the waiter waited longer than the remaining TTL");
    assert.ok(outcome.value >= ttlMs - CLOCKS_APART_MS, `${outcome.value} ms`);
    assert.ok(outcome.timings.attempts <= 4, `${outcome.timings.attempts} attempts: the waiter polled`);
  });

  it("does not treat a lock in its last millisecond as one without expiry", async () => {
    // Sequential, because a busy process wakes too late to hit that millisecond. Of this many turns, some do.
    for (let turn = 0; turn < 40; turn += 1) {
      const resource = `${request.resource}.${turn}`;
      await takeForAnother(resource, 20 + (turn % 10));
      const outcome = await lock.runGuarded({ ...request, resource }, async () => {});
      assert.equal(outcome.status, "completed", `turn ${turn} waited for a full TTL`);
    }
  });

  it("passes the wake-up on if a waiter aborts at the moment of the release", async () => {
    const holder = stay();
    await holder.entered;
    const caller = new AbortController();
    const shortWait = lock.runGuarded({ ...request, signal: caller.signal }, async () => "in");
    const rejected = assert.rejects(shortWait, (error) => isLockError(error) && error.code === "aborted");
    await untilSubscribed();
    const longWait = lock.runGuarded(request, async () => performance.now());
    const releasedMs = performance.now();
    holder.leave();
    caller.abort();
    await rejected;
    const outcome = await longWait;
    assert.ok(outcome.status === "completed" && outcome.value - releasedMs < PROMPT_MS);
  });

  it("rejects a nested section after the server has lost the hold", async () => {
    const outcome = await lock.runGuarded(request, async (grant) => {
      await clients.redis().del(request.resource);
      await assert.rejects(
        grant.runNested(async () => assert.fail("entered")),
        (error) => isLockError(error) && error.code === "lease_lost",
      );
      return grant.signal.aborted;
    });
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "lost");
    assert.deepEqual(await hash(), {});
  });

  it("removes the entry of a nested section at the release if the section could not, and reports it", async () => {
    let broken = false;
    const commands: RedisCommands = {
      call: async (command, ...parameters) => {
        if (!broken) return clients.redis().call(command, ...parameters);
        broken = false;
        throw new Error("the connection broke");
      },
    };
    const incidents: LockIncident[] = [];
    const parts = { commands, subscriber: clients.redisSubscriber() };
    await using fragile = createRedisReentrant(parts, { ...clients, onIncident: (it) => incidents.push(it) });
    const outcome = await fragile.runGuarded(request, async (grant) => {
      await grant.runNested(async () => {
        broken = true;
      });
      return Object.values(await hash());
    });
    assert.ok(outcome.status === "completed" && outcome.lease === "held");
    assert.deepEqual(outcome.value, ["2"]);
    assert.deepEqual(
      incidents.map(({ kind }) => kind),
      ["release_failed"],
    );
    assert.equal(await clients.redis().exists(request.resource), 0);
  });

  it("waits instead of failing while another kind of lock uses the key", async () => {
    const other = makeGate();
    const held = createLock("redis-lock", clients).runGuarded(request, () => other.pass());
    await other.reached;
    const waiter = lock.runGuarded(request, async () => "in");
    await untilSubscribed();
    other.open();
    await held;
    assert.equal((await waiter).status, "completed");
  });

  describe("whose subscriber is behind a relay", () => {
    it("falls back on the TTL while disconnected, and receives messages again after the reconnect", async () => {
      const { hostname: host, port } = new URL(lockServers().redis);
      const relay = await startTcpRelay({ host, port: Number(port) });
      const client = new Redis(`redis://127.0.0.1:${relay.port}`, redisOptionsForSubscriber);
      client.on("error", () => {});
      try {
        const parts = { commands: clients.redis(), subscriber: shareSubscriber(client) };
        await using withoutEvents = createRedisReentrant(parts, clients);
        const ttlMs = 800;
        await client.connect();

        relay.freeze();
        await takeForAnother(request.resource, ttlMs);
        const unanswered = await withoutEvents.runGuarded(request, async () => "in");
        assert.equal(unanswered.status, "completed", "the waiter hung on its subscription");

        relay.heal();
        const holder = stay();
        await holder.entered;
        const waiter = withoutEvents.runGuarded(request, async () => performance.now());
        await untilSubscribed();
        const lost = once(client, "close");
        relay.heal();
        await lost;
        await waitUntil(() => client.status === "ready", { what: "a new connection" });
        await untilSubscribed();
        const releasedMs = performance.now();
        holder.leave();
        const outcome = await waiter;
        assert.ok(outcome.status === "completed" && outcome.value - releasedMs < PROMPT_MS);
      } finally {
        client.disconnect();
        await relay.close();
      }
    });
  });
});
