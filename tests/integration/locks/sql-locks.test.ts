import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../../lib/locks/clock";
import { isLockError } from "../../../lib/locks/errors";
import { assertAllBack, failsWith, fresh, holdIn, open, openRelay, variants, watch } from "../../support/sql-bench";
import { waitUntil } from "../../support/wait-until";

/** How the PostgreSQL locks wait and what happens to their connections. tests/conformance checks what every lock promises. */

for (const [name, id, options] of variants) {
  describe(name, () => {
    it("leaves no waiter in the server after the caller aborts", async () => {
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

    it("returns `contended` when the wait in the server times out, and returns its connection", async () => {
      const { lock, postgres } = open(id, options);
      const request = fresh();
      const holder = await holdIn(lock, request);
      const outcome = await lock.runGuarded({ ...request, waitTimeoutMs: 150 }, async () => "entered");
      assert.equal(outcome.status, "contended");
      assert.equal(await watch.waiters(postgres.applicationName), 0);
      await holder.leave();
      assertAllBack(postgres);
    });

    it("counts the wait for a pooled connection separately from the wait for the lock", async () => {
      const { lock } = open(id, { ...options, poolSize: 1 });
      const holder = await holdIn(lock, fresh());
      const waiting = lock.runGuarded(fresh(), async () => "entered");
      // Long compared with the time for the lock itself, even on a busy machine.
      await systemClock.sleep(700);
      void holder.leave();
      const outcome = await waiting;
      assert.ok(outcome.status === "completed");
      const { poolWaitMs, waitMs } = outcome.timings;
      assert.ok(poolWaitMs >= 600 && waitMs < poolWaitMs, `pool ${poolWaitMs} ms, lock ${waitMs} ms`);
    });

    it("returns `contended` if the lock's holders use every connection until the wait times out", async () => {
      const { lock, postgres } = open(id, { ...options, poolSize: 1 });
      const request = fresh();
      const holder = await holdIn(lock, request);
      const outcome = await lock.runGuarded({ ...request, waitTimeoutMs: 200 }, async () => "entered");
      assert.equal(outcome.status, "contended");
      await holder.leave();
      await waitUntil(() => postgres.pool.waitingCount === 0, { what: "the pool's queue to empty" });
      assertAllBack(postgres);
    });

    it("signals the loss when the holder's connection ends, and grants the next caller", async () => {
      const { lock, postgres } = open(id, options);
      const request = fresh();
      const holder = await holdIn(lock, request);
      const pids = await watch.holders(postgres.applicationName);
      assert.equal(pids.length, 1);
      await watch.terminate(pids[0] ?? 0);
      await waitUntil(() => holder.grant.signal.aborted, { what: "grant.signal to abort" });
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

    it("rejects with a typed error in time if PostgreSQL stops answering during the wait", async () => {
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

    it("keeps waiting if its connection is cut and PostgreSQL is back at once", async () => {
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
