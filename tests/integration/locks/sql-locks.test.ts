import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../../lib/locks/clock";
import { isLockError } from "../../../lib/locks/errors";
import { assertAllBack, failsWith, fresh, holdIn, open, openRelay, variants, watch } from "../../support/sql-bench";
import { waitUntil } from "../../support/wait-until";

/** How the locks in PostgreSQL wait, and what becomes of their connections; what every lock promises is in tests/conformance. */

for (const [name, id, options] of variants) {
  describe(name, () => {
    it("leaves no waiter in the server when the caller aborts while waiting there", async () => {
      const { lock, postgres } = open(id, options);
      const request = fresh();
      const holder = await holdIn(lock, request);
      const caller = new AbortController();
      const waiting = lock.runGuarded({ ...request, signal: caller.signal }, async () => "entered");
      await watch.untilWaiting(postgres.applicationName, 1);
      caller.abort();
      await assert.rejects(waiting, failsWith("aborted", true));
      assert.equal(await watch.waiters(postgres.applicationName), 0);
      assert.equal((await holder.leave()).status, "completed");
      assertAllBack(postgres);
    });

    it("answers `contended` when the wait in the server is over, and gives its connection back", async () => {
      const { lock, postgres } = open(id, options);
      const request = fresh();
      const holder = await holdIn(lock, request);
      const outcome = await lock.runGuarded({ ...request, waitTimeoutMs: 150 }, async () => "entered");
      assert.equal(outcome.status, "contended");
      assert.equal(await watch.waiters(postgres.applicationName), 0);
      await holder.leave();
      assertAllBack(postgres);
    });

    it("counts waiting for a pooled connection apart from waiting for the lock", async () => {
      const { lock } = open(id, { ...options, poolSize: 1 });
      const holder = await holdIn(lock, fresh());
      const waiting = lock.runGuarded(fresh(), async () => "entered");
      // Long beside the moment that the lock itself takes, however busy the machine.
      await systemClock.sleep(700);
      void holder.leave();
      const outcome = await waiting;
      assert.ok(outcome.status === "completed");
      const { poolWaitMs, waitMs } = outcome.timings;
      assert.ok(poolWaitMs >= 600 && waitMs < poolWaitMs, `pool ${poolWaitMs} ms, lock ${waitMs} ms`);
    });

    it("answers `contended` when every connection is at work for the lock until the wait is over", async () => {
      const { lock, postgres } = open(id, { ...options, poolSize: 1 });
      const request = fresh();
      const holder = await holdIn(lock, request);
      const outcome = await lock.runGuarded({ ...request, waitTimeoutMs: 200 }, async () => "entered");
      assert.equal(outcome.status, "contended");
      await holder.leave();
      await waitUntil(() => postgres.pool.waitingCount === 0, { what: "the pool's queue to empty" });
      assertAllBack(postgres);
    });

    it("tells the holder when its connection is gone, and lets the next one in", async () => {
      const { lock, postgres } = open(id, options);
      const request = fresh();
      const holder = await holdIn(lock, request);
      const pids = await watch.holders(postgres.applicationName);
      assert.equal(pids.length, 1);
      await watch.terminate(pids[0] ?? 0);
      await waitUntil(() => holder.grant.signal.aborted, { what: "the holder to be told" });
      const next = await lock.runGuarded(request, async () => "entered");
      assert.equal(next.status, "completed");
      void holder.leave();
      if (options.advisory === "session") {
        const outcome = await holder.outcome;
        assert.ok(outcome.status === "completed" && outcome.lease === "lost");
      } else {
        await assert.rejects(holder.outcome, isLockError);
      }
    });

    it("gives a typed error, in time, when PostgreSQL falls silent while it waits", async () => {
      const relay = await openRelay();
      const { lock: outside } = open(id, options);
      const { lock, postgres } = open(id, { ...options, databaseUrl: relay.databaseUrl });
      const request = fresh();
      const holder = await holdIn(outside, request);
      const waiting = lock.runGuarded({ ...request, waitTimeoutMs: 800 }, async () => "entered");
      await watch.untilWaiting(postgres.applicationName, 1);
      relay.freeze();
      await assert.rejects(waiting, failsWith("backend_unavailable", true));
      await holder.leave();
    });

    it("goes on waiting when its connection is cut and PostgreSQL is back at once", async () => {
      const relay = await openRelay();
      const { lock: outside } = open(id, options);
      const { lock, postgres } = open(id, { ...options, databaseUrl: relay.databaseUrl });
      const request = fresh();
      const holder = await holdIn(outside, request);
      const waiting = lock.runGuarded(request, async () => "entered");
      await watch.untilWaiting(postgres.applicationName, 1);
      relay.heal();
      void holder.leave();
      const outcome = await waiting;
      assert.ok(outcome.status === "completed" && outcome.timings.attempts > 1, JSON.stringify(outcome));
    });
  });
}
