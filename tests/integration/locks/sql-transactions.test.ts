import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PoolClient } from "pg";
import type { Grant } from "../../../lib/locks/types";
import { assertAllBack, failsWith, fresh, holdIn, ids, open, openRelay, watch } from "../../support/sql-bench";

/** What becomes of the transaction that a lock in PostgreSQL lives in. */

for (const id of ids) {
  describe(`the transaction of ${id}`, () => {
    const insertRow = (grant: Grant, row: number) =>
      (grant.tx as PoolClient).query("INSERT INTO test_lock_rows VALUES ($1)", [row]);
    const newRow = () => 1_000_000 + Math.floor(Math.random() * 1_000_000_000);
    const isThere = async (row: number) =>
      (await watch.client.query("SELECT FROM test_lock_rows WHERE id = $1", [row])).rowCount === 1;

    it("is committed when the section ends, and nobody enters before", async () => {
      const { lock, postgres } = open(id);
      const request = fresh();
      const row = newRow();
      const first = await holdIn(lock, request);
      const second = lock.runGuarded(request, () => isThere(row));
      await watch.untilWaiting(postgres.applicationName, 1);
      await insertRow(first.grant, row);
      assert.equal(await isThere(row), false);
      void first.leave();
      const outcome = await second;
      assert.ok(outcome.status === "completed" && outcome.value);
      await first.outcome;
      assertAllBack(postgres);
    });

    it("is rolled back when the section throws", async () => {
      const { lock, postgres } = open(id);
      const row = newRow();
      const failing = lock.runGuarded(fresh(), async (grant) => {
        await insertRow(grant, row);
        throw new Error("out of paper");
      });
      await assert.rejects(failing, /out of paper/);
      assert.equal(await isThere(row), false);
      assertAllBack(postgres);
    });

    it("does not pass for done when a statement in it failed and the section went on", async () => {
      const { lock, postgres } = open(id);
      const row = newRow();
      const careless = lock.runGuarded(fresh(), async (grant) => {
        await insertRow(grant, row);
        const [failed] = await Promise.allSettled([insertRow(grant, row)]);
        assert.equal(failed.status, "rejected");
      });
      await assert.rejects(careless, failsWith("lease_lost", true));
      assert.equal(await isThere(row), false);
      assertAllBack(postgres);
    });

    it("has an unknown outcome when the answer to its commit is lost", async () => {
      const relay = await openRelay();
      const { lock } = open(id, { databaseUrl: relay.databaseUrl });
      const row = newRow();
      const unheard = lock.runGuarded(fresh(), async (grant) => {
        await insertRow(grant, row);
        relay.swallowReplies();
      });
      await assert.rejects(unheard, failsWith("outcome_unknown", false));
      assert.equal(await isThere(row), true, "it happened, and the caller cannot know");
    });
  });
}
