import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { after, before, beforeEach, describe, it } from "node:test";
import { createLock } from "../../../lib/locks/create-lock";
import { breakLock } from "../../../lib/locks/redis/break-lock";
import { ownerlessKey } from "../../../lib/locks/redis/ownerless";
import { createRedisGetset } from "../../../lib/locks/redis/redis-getset";
import type { RedisCommands } from "../../../lib/locks/redis/redis-port";
import { createRedisSetnxGetset } from "../../../lib/locks/redis/redis-setnx-getset";
import type { LockOutcome, LockRequest } from "../../../lib/locks/types";
import { makeGate } from "../../support/gate";
import { type LockClients, openLockClients } from "../../support/lock-clients";
import { testProgram } from "../../support/test-program";

/** The flaws of the Redis locks without an owner. tests/conformance shows that they exclude others without a fault. */

const FAILPOINT = testProgram("tests/support/failpoint-main.ts");
const TTL_MS = 200;

describe("Redis locks without an owner", () => {
  let clients: LockClients;
  let request: LockRequest;

  before(() => {
    clients = openLockClients();
  });
  after(() => clients[Symbol.asyncDispose]());
  beforeEach(() => {
    request = { resource: `test:${randomUUID()}`, waitTimeoutMs: 5_000, ttlMs: TTL_MS };
  });

  const tryOnce = (id: string) =>
    createLock(id, clients).runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "in");
  const keptBy = (id: string) => clients.redis().get(ownerlessKey(id, request.resource));
  const leftMsOf = (id: string) => clients.redis().pttl(ownerlessKey(id, request.resource));

  /** A caller that holds the lock until the gate opens. */
  function stay(id: string, ttlMs = TTL_MS) {
    const inside = makeGate();
    const call = createLock(id, clients).runGuarded({ ...request, ttlMs }, () => inside.pass());
    return { entered: inside.reached, leave: () => inside.open(), call };
  }

  for (const [id, value] of [
    ["redis-setnx", /^1$/],
    ["redis-setnx-expire", /^1$/],
    ["redis-setnx-script", /^true$/],
    ["redis-set-px", /^1$/],
    ["redis-getset", /^\d{13}$/],
    ["redis-setnx-getset", /^\d{13}$/],
  ] as const) {
    const expires = !["redis-setnx", "redis-getset", "redis-setnx-getset"].includes(id);
    it(`${id} stores a value that does not name the holder, ${expires ? "with" : "without"} an expiry`, async () => {
      const holder = stay(id, 5_000);
      await holder.entered;
      assert.match((await keptBy(id)) ?? "", value);
      const leftMs = await leftMsOf(id);
      assert.ok(expires ? leftMs > 0 && leftMs <= 5_000 : leftMs === -1, `PTTL ${leftMs}`);
      holder.leave();
      await holder.call;
      assert.equal(await keptBy(id), null);
    });
  }

  it("redis-setnx stays held after a holder crash until an operator breaks the lock", async () => {
    await clients.redis().set(ownerlessKey("redis-setnx", request.resource), "1");
    const waiting = { ...request, waitTimeoutMs: 2 * TTL_MS };
    const outcome = await createLock("redis-setnx", clients).runGuarded(waiting, async () => "in");
    assert.equal(outcome.status, "contended");
    assert.deepEqual(await breakLock(clients.redis(), request.resource), ["redis-setnx"]);
    assert.equal((await tryOnce("redis-setnx")).status, "completed");
    assert.deepEqual(await breakLock(clients.redis(), request.resource), []);
  });

  it("redis-setnx-expire leaves a lock that never expires if it is killed between its two commands", async () => {
    const holder = fork(FAILPOINT.file, [request.resource], { execArgv: [...FAILPOINT.execArgv] });
    const exit = once(holder, "exit");
    try {
      assert.deepEqual(await once(holder, "message"), ["between", undefined]);
    } finally {
      holder.kill("SIGKILL");
      await exit;
    }
    assert.equal(await leftMsOf("redis-setnx-expire"), -1);
    const outcome = await createLock("redis-setnx-expire", clients).runGuarded(
      { ...request, waitTimeoutMs: 5 * TTL_MS },
      async () => "in",
    );
    assert.equal(outcome.status, "contended");
    assert.deepEqual(await breakLock(clients.redis(), request.resource), ["redis-setnx-expire"]);
    assert.equal((await tryOnce("redis-setnx-expire")).status, "completed");
  });

  describe("that store a time of day", () => {
    let nowAtEpochMs: number;

    beforeEach(() => {
      nowAtEpochMs = 1_800_000_000_000;
    });
    const skewed = (aheadMs = 0) => ({
      ...clients,
      clock: { ...clients.clock, epochMs: () => nowAtEpochMs + aheadMs },
    });
    const once0 = { waitTimeoutMs: 0 };
    const section = async () => "in";
    const hold = (lock: ReturnType<typeof createRedisGetset>) => {
      const inside = makeGate();
      const call: Promise<LockOutcome<void>> = lock.runGuarded({ ...request, ...once0 }, () => inside.pass());
      return { entered: inside.reached, leave: () => inside.open(), call };
    };

    it("redis-getset grants a second holder when the hold is older than the TTL", async () => {
      const lock = createRedisGetset(clients.redis(), skewed());
      const holder = hold(lock);
      await holder.entered;
      nowAtEpochMs += TTL_MS;
      assert.equal((await lock.runGuarded({ ...request, ...once0 }, section)).status, "contended");
      nowAtEpochMs += TTL_MS + 1;
      assert.equal((await lock.runGuarded({ ...request, ...once0 }, section)).status, "completed");
      holder.leave();
      await holder.call;
    });

    it("redis-getset is extended by every loser, so retries keep the lock of a crashed holder alive", async () => {
      const lock = createRedisGetset(clients.redis(), skewed());
      const holder = hold(lock);
      await holder.entered;
      const takenAt = Number(await keptBy("redis-getset"));
      for (let retry = 1; retry <= 10; retry += 1) {
        nowAtEpochMs += TTL_MS - 1;
        assert.equal((await lock.runGuarded({ ...request, ...once0 }, section)).status, "contended", `retry ${retry}`);
        assert.equal(await keptBy("redis-getset"), String(nowAtEpochMs), "expected the loser to write its time");
      }
      assert.ok(nowAtEpochMs - takenAt > 9 * TTL_MS);
      assert.deepEqual(await breakLock(clients.redis(), request.resource), ["redis-getset"]);
      assert.equal((await lock.runGuarded({ ...request, ...once0 }, section)).status, "completed");
      holder.leave();
      await holder.call;
    });

    it("redis-setnx-getset grants a client whose clock is ahead while a holder is alive", async () => {
      const holder = hold(createRedisSetnxGetset(clients.redis(), skewed()));
      await holder.entered;
      const rightClock = createRedisSetnxGetset(clients.redis(), skewed());
      assert.equal((await rightClock.runGuarded({ ...request, ...once0 }, section)).status, "contended");
      const thief = hold(createRedisSetnxGetset(clients.redis(), skewed(TTL_MS + 10)));
      await thief.entered;
      holder.leave();
      const outcome = await holder.call;
      assert.equal(outcome.status, "completed");
      assert.equal(
        await keptBy("redis-setnx-getset"),
        null,
        "expected the ownerless DEL to remove the second holder's lock",
      );
      thief.leave();
      await thief.call;
    });

    it("redis-setnx-getset grants one of two clients that find it expired, and the loser moves the winner's expiry", async () => {
      const dead = hold(createRedisSetnxGetset(clients.redis(), skewed()));
      await dead.entered;
      nowAtEpochMs += TTL_MS + 10;
      const swap = makeGate();
      const late: RedisCommands = {
        call: async (command, ...parameters) => {
          if (command === "GETSET") await swap.pass();
          return clients.redis().call(command, ...parameters);
        },
      };
      const loser = createRedisSetnxGetset(late, skewed(5)).runGuarded({ ...request, ...once0 }, section);
      await swap.reached;
      const winner = hold(createRedisSetnxGetset(clients.redis(), skewed()));
      await winner.entered;
      const expiresAt = Number(await keptBy("redis-setnx-getset"));
      swap.open();
      assert.equal((await loser).status, "contended");
      assert.equal(Number(await keptBy("redis-setnx-getset")), expiresAt + 5);
      for (const holder of [dead, winner]) {
        holder.leave();
        await holder.call;
      }
    });
  });
});
