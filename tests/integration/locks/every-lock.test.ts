import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { isLockError } from "../../../lib/locks/errors";
import { createLock } from "../../../lib/locks/registry";
import type { LockRequest, LockStrategy } from "../../../lib/locks/types";
import { type LockClients, openLockClients } from "../../support/lock-clients";
import { LockProcess } from "../../support/lock-process";
import { overlaps, RACE, race } from "../../support/lock-race";
import { waitUntil } from "../../support/wait-until";

/** What every lock that spans processes promises, on its real servers. */

const EXCLUSIVE = [
  "sql-row-lock",
  "sql-table-lock",
  "sql-advisory",
  "redis-setnx",
  "redis-setnx-expire",
  "redis-setnx-script",
  "redis-set-px",
  "redis-getset",
  "redis-setnx-getset",
  "redis-lock",
  "redis-reentrant",
  "redis-fenced",
  "redlock",
  "memcached-add",
  "zk-exclusive",
  "zk-mutex",
  "zk-fenced",
  "etcd-lock",
];
/** Nothing ends a dead holder's hold while anybody asks for it: the flaw they are here to show. */
const BLOCKED_BY_THE_DEAD = ["redis-setnx", "redis-getset"];
const UNGUARDED = ["none", "local-mutex"];

for (const strategyId of EXCLUSIVE) {
  describe(strategyId, () => {
    let clients: LockClients;
    let lock: LockStrategy;
    let request: LockRequest;

    before(() => {
      clients = openLockClients();
      lock = createLock(strategyId, clients);
    });
    after(async () => {
      await lock[Symbol.asyncDispose]();
      await clients[Symbol.asyncDispose]();
    });
    const fresh = (overrides: Partial<LockRequest> = {}): LockRequest => {
      request = { resource: `test:${randomUUID()}`, waitTimeoutMs: 5_000, ttlMs: 5_000, ...overrides };
      return request;
    };
    /** Takes the lock if it is free now. */
    const tryNow = () => lock.runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered");

    it("lets one in at a time while three processes contend", async () => {
      const holds = await race(strategyId);
      assert.equal(holds.length, 3 * RACE.callers * RACE.holdsEach);
      assert.equal(overlaps(holds), 0);
      assert.equal(new Set(holds.map(({ holderId }) => holderId)).size, holds.length);
    });

    it("answers `contended` at once to a caller that may not wait", async () => {
      const outcome = await lock.runGuarded(fresh(), tryNow);
      assert.ok(outcome.status === "completed" && outcome.value.status === "contended");
      assert.equal(outcome.value.attempts, 1);
    });

    it("answers `contended` when the wait is over, and leaves no waiter behind", async () => {
      const outcome = await lock.runGuarded(fresh(), () =>
        lock.runGuarded({ ...request, waitTimeoutMs: 200 }, async () => "entered"),
      );
      assert.ok(outcome.status === "completed" && outcome.value.status === "contended");
      assert.ok(outcome.value.waitedMs >= 190 && outcome.value.waitedMs < 2_000, `${outcome.value.waitedMs} ms`);
      assert.equal((await tryNow()).status, "completed");
    });

    it("is free again after a section that throws", async () => {
      const failure = new Error("out of paper");
      const call = lock.runGuarded(fresh(), () => Promise.reject(failure));
      await assert.rejects(call, failure);
      assert.equal((await tryNow()).status, "completed");
    });

    it("is freed although the caller's signal aborts during the section", async () => {
      const caller = new AbortController();
      const outcome = await lock.runGuarded({ ...fresh(), signal: caller.signal }, async () => caller.abort());
      assert.ok(outcome.status === "completed" && outcome.lease !== "lost");
      assert.equal((await tryNow()).status, "completed");
    });

    it("leaves no waiter behind when the caller aborts while waiting", async () => {
      const caller = new AbortController();
      await lock.runGuarded(fresh(), async () => {
        const waiting = lock.runGuarded({ ...request, signal: caller.signal }, async () => "entered");
        setImmediate(() => caller.abort());
        await assert.rejects(waiting, (error) => isLockError(error) && error.code === "aborted");
      });
      assert.equal((await tryNow()).status, "completed");
    });

    it("holds a nested section under the same hold", async () => {
      const outcome = await lock.runGuarded(fresh(), (grant) => grant.runNested(tryNow));
      assert.ok(outcome.status === "completed" && outcome.value.status === "contended");
    });

    const isBlocked = BLOCKED_BY_THE_DEAD.includes(strategyId);
    it(`${isBlocked ? "goes to nobody" : "goes to the next caller"} after a holder was killed`, async () => {
      const ttlMs = 1_000;
      const { resource } = fresh({ ttlMs, waitTimeoutMs: isBlocked ? 3 * ttlMs : 10_000 });
      const crash = { strategyId, resource, ttlMs, waitTimeoutMs: 5_000, callers: 1, holdsEach: 1, holdMs: 60_000 };
      await using holder = new LockProcess(crash);
      await waitUntil(() => holder.has("ready"), { what: "the holder's process" });
      holder.go();
      await waitUntil(() => holder.has("granted"), { what: "the holder's grant" });
      assert.equal((await tryNow()).status, "contended");
      holder.signal("SIGKILL");
      const outcome = await lock.runGuarded(request, async () => "entered");
      assert.equal(outcome.status, isBlocked ? "contended" : "completed");
    });
  });
}

for (const strategyId of UNGUARDED) {
  describe(strategyId, () => {
    it("lets processes in side by side: the flaw it is here to show", async () => {
      assert.ok(overlaps(await race(strategyId)) > 0);
    });
  });
}
