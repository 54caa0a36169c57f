import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PoolClient } from "pg";
import type { Grant } from "../../../lib/locks/types";
import { assertAllBack, failsWith, fresh, holdIn, ids, open, openRelay, watch } from "../../support/sql-bench";

/** The transaction that contains a PostgreSQL lock. */

for (const id of ids) {
  describe(`the transaction of ${id}`, () => {
    const insertRow = (grant: Grant, row: number) =>
      (grant.tx as PoolClient).query("INSERT INTO test_lock_rows VALUES ($1)", [row]);
    const newRow = () => 1_000_000 + Math.floor(Math.random() * 1_000_000_000);
    const isThere = async (row: number) =>
      (await watch.client.query("SELECT FROM test_lock_rows WHERE id = $1", [row])).rowCount === 1;

    it("is committed when the section ends, and no caller enters before", async () => {
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

    it("rejects if a statement failed and the section continued", async () => {
      const { lock, postgres } = open(id);
      const row = newRow();
      const ignoringFailure = lock.runGuarded(fresh(), async (grant) => {
        await insertRow(grant, row);
        const [failed] = await Promise.allSettled([insertRow(grant, row)]);
        assert.equal(failed.status, "rejected");
      });
      await assert.rejects(ignoringFailure, failsWith("lease_lost", true));
      assert.equal(await isThere(row), false);
      assertAllBack(postgres);
    });

    it("has an unknown outcome if the answer to its commit is lost", async () => {
      const relay = await openRelay();
      const { lock } = open(id, { databaseUrl: relay.databaseUrl });
      const row = newRow();
      const unanswered = lock.runGuarded(fresh(), async (grant) => {
        await insertRow(grant, row);
        relay.swallowReplies();
      });
      await assert.rejects(unanswered, failsWith("outcome_unknown", false));
      assert.equal(await isThere(row), true, "expected the commit to have succeeded although its answer was lost");
    });
  });
}
