import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PoolClient } from "pg";
import { systemClock } from "../../../lib/locks/clock";
import { advisoryKeyOf } from "../../../lib/locks/postgres/resource-hash";
import { openTestPostgres, type TestPostgres } from "../../support/postgres-for-tests";
import { failsWith, fresh, holdIn, open, toDispose, watch } from "../../support/sql-bench";
import { waitUntil } from "../../support/wait-until";

/** What is specific to each PostgreSQL lock. */

describe("sql-row-lock", () => {
  for (const rowLock of ["nowait", "skip-locked"] as const) {
    it(`${rowLock} returns at once if the wait timeout is 0`, async () => {
      const { lock } = open("sql-row-lock", { rowLock });
      const request = fresh();
      const holder = await holdIn(lock, request);
      const outcome = await lock.runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered");
      assert.ok(outcome.status === "contended" && outcome.attempts === 1);
      await holder.leave();
    });

    it(`${rowLock} polls until the row is free, and never waits in the server`, async () => {
      const { lock, postgres } = open("sql-row-lock", { rowLock, poolSize: 2 });
      const request = fresh();
      const holder = await holdIn(lock, request);
      let queued = 0;
      const waiting = lock.runGuarded(request, async () => "entered");
      let isFree = false;
      await waitUntil(
        async () => {
          queued += await watch.waiters(postgres.applicationName);
          // Between two tries the waiter holds no connection.
          isFree ||= postgres.pool.idleCount === 1;
          return isFree;
        },
        { what: "a pause between two tries" },
      );
      void holder.leave();
      const outcome = await waiting;
      assert.ok(outcome.status === "completed" && outcome.timings.attempts > 1);
      assert.equal(queued, 0);
    });
  }

  it("rejects a resource without a row", async () => {
    const { lock } = open("sql-row-lock");
    const nowhere = fresh({ resource: "product:2147483647" });
    const entering = lock.runGuarded(nowhere, async () => "entered");
    await assert.rejects(entering, failsWith("config_invalid", true));
  });

  const WAIT_MS = 3_000;

  /** Two callers wait for a row, which is updated and released after 0.7 of one caller's wait. @returns the outcome of that caller */
  async function waitForTwoHolders() {
    const { lock, postgres } = open("sql-row-lock");
    const request = fresh();
    const first = await holdIn(lock, request);
    const second = holdIn(lock, request);
    await watch.untilWaiting(postgres.applicationName, 1);
    const waiting = lock.runGuarded({ ...request, waitTimeoutMs: WAIT_MS }, async () => "entered");
    await watch.untilWaiting(postgres.applicationName, 2);
    await systemClock.sleep(0.7 * WAIT_MS);
    const row = postgres.rowOf(request.resource);
    await (first.grant.tx as PoolClient).query("UPDATE test_lock_rows SET id = id WHERE id = $1", [row?.id]);
    void first.leave();
    const outcome = await waiting;
    await Promise.all([first.outcome, (await second).leave()]);
    return outcome;
  }

  it("keeps its wait limit although each update of the row restarts the wait", async () => {
    // The update moves both to the new row version, where either may come first. The first one has no second wait.
    let outcome = await waitForTwoHolders();
    for (let again = 0; outcome.status === "completed" && again < 10; again += 1) outcome = await waitForTwoHolders();
    // lock_timeout would have counted from the second wait.
    assert.ok(outcome.status === "contended" && outcome.waitedMs < 1.6 * WAIT_MS, JSON.stringify(outcome));
  });
});

describe("sql-table-lock", () => {
  const write = (resource: string, postgres: TestPostgres) => {
    const row = postgres.rowOf(resource);
    return postgres.pool.query("UPDATE test_lock_rows SET id = id WHERE id = $1", [row?.id]);
  };

  it("blocks writers of other rows, which sql-row-lock does not", async () => {
    const other = fresh();
    const bystander = openTestPostgres();
    toDispose.push(bystander);

    const rowLock = open("sql-row-lock");
    const rowHolder = await holdIn(rowLock.lock, fresh());
    assert.equal((await write(other.resource, bystander)).rowCount, 1);
    await rowHolder.leave();

    const tableLock = open("sql-table-lock");
    const tableHolder = await holdIn(tableLock.lock, fresh());
    let isWritten = false;
    const writing = write(other.resource, bystander).then(() => {
      isWritten = true;
    });
    await watch.untilWaiting(bystander.applicationName, 1);
    assert.equal(isWritten, false);
    await tableHolder.leave();
    await writing;
  });

  it("does not block readers", async () => {
    const { lock } = open("sql-table-lock");
    const holder = await holdIn(lock, fresh());
    assert.equal((await watch.client.query("SELECT FROM test_lock_rows LIMIT 1")).rowCount, 1);
    await holder.leave();
  });
});

describe("sql-advisory", () => {
  it("locks the key that the resource hashes to", async () => {
    const { lock } = open("sql-advisory");
    const request = fresh();
    const holder = await holdIn(lock, request);
    const key = advisoryKeyOf(request.resource).toString();
    const tryKey = () => watch.client.query<{ got: boolean }>("SELECT pg_try_advisory_lock($1::bigint) AS got", [key]);
    assert.equal((await tryKey()).rows[0]?.got, false);
    await holder.leave();
    assert.equal((await tryKey()).rows[0]?.got, true);
    await watch.client.query("SELECT pg_advisory_unlock_all()");
  });

  it("with session scope uses a separate connection, and grants a second holder when its session ends", async () => {
    const { lock, postgres } = open("sql-advisory", { advisory: "session" });
    const request = fresh();
    const first = await holdIn(lock, request);
    assert.equal(first.grant.tx, null);
    const [pid] = await watch.advisoryHolders(postgres.applicationName);
    await watch.terminate(pid ?? 0);
    const second = await holdIn(lock, request);
    // The flaw it demonstrates: the first holder is still in its section, and its writes still reach the database.
    assert.equal((await postgres.pool.query("SELECT 1")).rowCount, 1);
    assert.ok(first.grant.signal.aborted);
    for (const holder of [first, second]) void holder.leave();
    const leases = (await Promise.all([first.outcome, second.outcome])).map((outcome) =>
      outcome.status === "completed" ? outcome.lease : outcome.status,
    );
    assert.deepEqual(leases, ["lost", "held"]);
  });

  it("with session scope leaves no lock on a connection that returns to its pool", async () => {
    const { lock, postgres } = open("sql-advisory", { advisory: "session", poolSize: 2 });
    const request = fresh();
    const holder = await holdIn(lock, request);
    await lock.runGuarded({ ...request, waitTimeoutMs: 50 }, async () => "entered");
    await holder.leave();
    assert.deepEqual(await watch.advisoryHolders(postgres.applicationName), []);
  });
});
