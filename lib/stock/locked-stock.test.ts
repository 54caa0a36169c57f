import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { redisLockTraits } from "../locks/redis/redis-lock";
import type { Grant, LockOutcome, LockRequest, LockStrategy } from "../locks/types";
import type { Failpoint } from "./failpoint";
import { LockedStock, type SectionHooks } from "./locked-stock";
import { StockStore } from "./stock-store";
import { FakePostgres, lostReply, sqlError } from "./testing/fake-postgres";
import { assertLockError, COUPON, giveBackOf, orderValuesOf, purchaseOf } from "./testing/requests";

interface LockOptions {
  readonly fencingToken?: bigint;
  readonly isInTransaction?: boolean;
  readonly leaseLeftMs?: number;
  readonly outcome?: Extract<LockOutcome<never>, { status: "contended" }>;
}

/** A LockedStock over a lock that grants at once, and the events in their order. */
function setUp(options: LockOptions = {}, hooks: SectionHooks = {}) {
  const events: string[] = [];
  const postgres = new FakePostgres(events);
  const lease = new AbortController();
  const requests: LockRequest[] = [];
  const sectionErrors: unknown[] = [];
  const grant: Grant = {
    holderId: "holder-1",
    fencingToken: options.fencingToken ?? null,
    signal: lease.signal,
    leaseLeftMs: () => options.leaseLeftMs ?? Infinity,
    tx: options.isInTransaction ? postgres.client : null,
    runNested: () => assert.fail("runNested is not expected"),
  };
  const lock: LockStrategy = {
    id: "test-lock",
    traits: redisLockTraits,
    async runGuarded<T>(request: LockRequest, section: (grant: Grant) => Promise<T>): Promise<LockOutcome<T>> {
      requests.push(request);
      if (options.outcome) return options.outcome;
      try {
        const value = await section(grant);
        const timings = { waitMs: 0, poolWaitMs: 2, holdMs: 0, releaseMs: 0, attempts: 3 };
        return { status: "completed", value, lease: "held", timings };
      } catch (error) {
        sectionErrors.push(error);
        throw error;
      } finally {
        events.push("release");
      }
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const stock = new LockedStock(lock, new StockStore(postgres.pool, "node-1"), {
    work: async (holdMs) => void events.push(`work ${holdMs}`),
    beforeWrite: () => void events.push("failpoint"),
    ...hooks,
  });
  return { stock, postgres, lease, events, requests, sectionErrors };
}

describe("a purchase under a lock", () => {
  it("reads, works, passes the failpoint, writes the absolute value, and then releases", async () => {
    const { stock, postgres, events } = setUp();
    postgres.reply("read", { stock: 5, version: 1 }).reply("writeAbsolute", { order_id: "42" });
    const request = purchaseOf({ holdMs: 9 });
    assert.deepEqual(await stock.reduceStock(request), { status: "sold", orderId: "42" });
    assert.deepEqual(events, ["postgres read", "work 9", "failpoint", "postgres writeAbsolute", "release"]);
    assert.deepEqual(postgres.valuesOf("writeAbsolute"), [7, 4, ...orderValuesOf("test-lock")]);
    const { readValue, writtenValue, writeAccepted, holderId, attempts } = request.trace;
    assert.deepEqual([readValue, writtenValue, writeAccepted, holderId, attempts], [5, 4, true, "holder-1", 3]);
    assert.ok(request.trace.committedNs !== undefined && request.trace.releasedNs !== undefined);
  });

  it("sells the last units and writes nothing when one unit is missing", async () => {
    const { stock, postgres, events } = setUp();
    postgres.reply("read", { stock: 2, version: 1 }).reply("writeAbsolute", { order_id: "42" });
    assert.equal((await stock.reduceStock(purchaseOf({ quantity: 2 }))).status, "sold");
    events.length = 0;
    assert.deepEqual(await stock.reduceStock(purchaseOf({ quantity: 3 })), { status: "sold_out" });
    assert.deepEqual(events, ["postgres read", "release"]);
  });

  it("does not write after the lease was lost during the work", async () => {
    const { stock, postgres, lease, events } = setUp({}, { work: async () => lease.abort() });
    postgres.reply("read", { stock: 5 });
    const request = purchaseOf();
    await assertLockError(stock.reduceStock(request), "lease_lost", { isDefinite: true });
    assert.deepEqual(events, ["postgres read", "release"]);
    assert.ok(request.trace.leaseLostNs !== undefined, "the trace lacks the time of the loss");
    assert.ok(request.trace.releasedNs !== undefined, "the trace lacks the end of the hold");
  });

  it("records when the lease ends before a failpoint can stop the holder, also if it has ended unnoticed", async () => {
    for (const leaseLeftMs of [250, -7_500, Infinity]) {
      const seen: (bigint | undefined)[] = [];
      const beforeWrite: Failpoint = ({ trace }) => void seen.push(trace.leaseUntilNs);
      const { stock, postgres } = setUp({ leaseLeftMs }, { beforeWrite });
      postgres.reply("read", { stock: 5 }).reply("writeAbsolute", { order_id: "42" });
      const request = purchaseOf();
      await stock.reduceStock(request);
      const { readNs = 0n, writeNs = 0n, leaseUntilNs } = request.trace;
      assert.deepEqual(seen, [leaseUntilNs]);
      if (leaseLeftMs === Infinity) assert.equal(leaseUntilNs, undefined);
      else {
        const atNs = (leaseUntilNs ?? 0n) - BigInt(leaseLeftMs) * 1_000_000n;
        assert.ok(atNs >= readNs && atNs <= writeNs, `expected ${atNs} between ${readNs} and ${writeNs}`);
      }
    }
  });

  it("starts the write synchronously after the failpoint, so that no lease timer runs in between", async () => {
    let hasYielded = false;
    const { stock, postgres } = setUp({}, { beforeWrite: () => queueMicrotask(() => (hasYielded = true)) });
    const connects: boolean[] = [];
    const { connect } = postgres.pool as unknown as { connect: () => Promise<unknown> };
    Object.assign(postgres.pool, {
      connect: () => {
        connects.push(hasYielded);
        return connect();
      },
    });
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", { order_id: "42" });
    await stock.reduceStock(purchaseOf());
    assert.deepEqual(connects, [false, false], "expected no microtask between failpoint and checkout of the write");
  });

  it("leaves no listener on the lease signal, and ignores a loss after the hold", async () => {
    const { stock, postgres, lease } = setUp();
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", { order_id: "42" });
    const request = purchaseOf();
    await stock.reduceStock(request);
    assert.equal(getEventListeners(lease.signal, "abort").length, 0);
    lease.abort();
    assert.equal(request.trace.leaseLostNs, undefined);
  });

  it("records that the write was not accepted when PostgreSQL cancelled it", async () => {
    const { stock, postgres } = setUp();
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", sqlError("57014"));
    const request = purchaseOf();
    await assertLockError(stock.reduceStock(request), "backend_unavailable", { isDefinite: true });
    assert.equal(request.trace.writeAccepted, false);
  });

  it("reports an unknown outcome when the reply to the write is lost outside a transaction", async () => {
    const { stock, postgres } = setUp();
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", lostReply());
    await assertLockError(stock.reduceStock(purchaseOf()), "outcome_unknown", { isDefinite: false });
  });

  it("reports a definite failure when the reply to the write is lost inside a transaction", async () => {
    const { stock, postgres } = setUp({ isInTransaction: true });
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", lostReply());
    await assertLockError(stock.reduceStock(purchaseOf()), "backend_unavailable", { isDefinite: true });
  });

  it("fails the critical section of a rejected buyer, so that a lock in a transaction rolls back", async () => {
    const { stock, postgres, sectionErrors } = setUp({ isInTransaction: true });
    postgres.reply("read", { stock: 5 });
    postgres.reply("writeAbsolute", sqlError("23505", "coupon_claims_coupon_id_user_id_key"));
    const request = purchaseOf({ target: COUPON });
    assert.deepEqual(await stock.reduceStock(request), { status: "already_claimed" });
    assert.equal(sectionErrors.length, 1, "expected the section to throw");
    assert.equal(request.trace.writeAccepted, false);
  });

  it("counts a sale inside a transaction from the end of runGuarded, which commits", async () => {
    const { stock, postgres } = setUp({ isInTransaction: true });
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", { order_id: "42" });
    const request = purchaseOf();
    await stock.reduceStock(request);
    const { committedNs = 0n, releasedNs = 0n, transactional } = request.trace;
    assert.equal(transactional, true);
    assert.ok(committedNs > releasedNs, "expected the commit after the end of the critical section");
  });

  it("passes contention on with its wait and attempts", async () => {
    const { stock, requests } = setUp({ outcome: { status: "contended", waitedMs: 12, attempts: 4 } });
    const request = purchaseOf({ waitTimeoutMs: 12 });
    assert.deepEqual(await stock.reduceStock(request), { status: "contended", waitedMs: 12, attempts: 4 });
    assert.equal(request.trace.attempts, 4);
    assert.deepEqual(requests, [{ resource: "product:7", waitTimeoutMs: 12, ttlMs: 1_000 }]);
  });
});

describe("a purchase under a lock with a fencing token", () => {
  it("sends the token with the read and with the write", async () => {
    const { stock, postgres } = setUp({ fencingToken: 33n });
    postgres.reply("readFenced", { stock: 5 }).reply("writeFenced", { order_id: "42" });
    await stock.reduceStock(purchaseOf());
    assert.deepEqual(postgres.valuesOf("readFenced"), [7, 33n]);
    assert.deepEqual(postgres.valuesOf("writeFenced"), [7, 4, ...orderValuesOf("test-lock"), 33n]);
  });

  for (const { stale, read, write } of [
    { stale: "read", read: null, write: { order_id: "42" } },
    { stale: "write", read: { stock: 5 }, write: null },
  ])
    it(`fails with fence_stale when the database rejects the token at the ${stale}`, async () => {
      const { stock, postgres } = setUp({ fencingToken: 33n });
      postgres.reply("readFenced", read).reply("writeFenced", write);
      const request = purchaseOf();
      await assertLockError(stock.reduceStock(request), "fence_stale", { isDefinite: true });
      assert.notEqual(request.trace.writeAccepted, true);
    });

  it("sends no token when the run switches fencing off", async () => {
    const { stock, postgres } = setUp({ fencingToken: 33n });
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", { order_id: "42" });
    assert.equal((await stock.reduceStock(purchaseOf({ fencing: false }))).status, "sold");
    assert.deepEqual(postgres.namesSent(), ["read", "writeAbsolute"]);
  });
});

describe("a give-back under a lock", () => {
  const released = [{ orderId: "11", buyerId: "buyer-1", quantity: 1 }];

  it("returns the units to the value it read, and reports the orders it ended", async () => {
    const { stock, postgres } = setUp();
    postgres.reply("read", { stock: 5 }).reply("releaseAbsolute", { due: 1, released });
    assert.deepEqual(await stock.giveBack(giveBackOf()), { status: "released", orders: released });
    assert.deepEqual(postgres.valuesOf("releaseAbsolute"), [7, ["11", "12"], "expired", null, null, "end-1", 5]);
  });

  it("does not write after the lease was lost during the read", async () => {
    const { stock, postgres, lease } = setUp();
    postgres.reply("read", { stock: 5 });
    postgres.onStatement = () => lease.abort();
    await assertLockError(stock.giveBack(giveBackOf()), "lease_lost", { isDefinite: true });
    assert.deepEqual(postgres.namesSent(), ["read"]);
  });

  it("fails with fence_stale when orders were due and the database rejected the token", async () => {
    const { stock, postgres } = setUp({ fencingToken: 33n });
    postgres.reply("readFenced", { stock: 5 }).reply("releaseFenced", { due: 2, released: [] });
    await assertLockError(stock.giveBack(giveBackOf()), "fence_stale", { isDefinite: true });
    assert.deepEqual(postgres.valuesOf("releaseFenced")?.slice(-2), [5, 33n]);
  });

  it("succeeds without orders when none was due", async () => {
    const { stock, postgres } = setUp({ fencingToken: 33n });
    postgres.reply("readFenced", { stock: 5 }).reply("releaseFenced", { due: 0, released: [] });
    assert.deepEqual(await stock.giveBack(giveBackOf()), { status: "released", orders: [] });
  });

  it("passes contention on", async () => {
    const { stock } = setUp({ outcome: { status: "contended", waitedMs: 1, attempts: 2 } });
    assert.deepEqual(await stock.giveBack(giveBackOf()), { status: "contended", waitedMs: 1, attempts: 2 });
  });
});
