import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { isLockError } from "../locks/errors";
import { FakeClock } from "../locks/testing/fake-clock";
import { StockStore } from "./stock-store";
import { FakePostgres, lostReply, type Reply, sqlError } from "./testing/fake-postgres";
import { giveBackOf, purchaseOf } from "./testing/requests";

/** The time limit of a write by `purchaseOf`, then the limits of the cancel request and of the reply to the cancelled write. */
const LIMIT_MS = 2_000;
const CANCEL_LIMIT_MS = 300;
const END_LIMIT_MS = 700;

let clock: FakeClock;
let cancelledAtMs: number[];
let onCancel: () => Promise<void>;
let reply: (reply: Reply) => void;
let postgres: FakePostgres;
let store: StockStore;

beforeEach(() => {
  clock = new FakeClock();
  cancelledAtMs = [];
  onCancel = async () => {};
  const late = new Promise<Reply>((resolve) => {
    reply = resolve;
  });
  postgres = new FakePostgres();
  for (const name of ["writeAbsolute", "releaseAbsolute", "writeFenced", "takeGuarded"]) postgres.reply(name, late);
  store = new StockStore(postgres.pool, "node-1", {
    clock,
    cancel: (_client, _clock, limitMs) => {
      assert.equal(limitMs, CANCEL_LIMIT_MS);
      cancelledAtMs.push(clock.nowMs());
      return onCancel();
    },
  });
});

const write = () => store.run(purchaseOf(), { name: "writeAbsolute", values: [7, 4], strategyId: "test-lock" });

/** @returns code, isDefinite and mayBeInFlight of the error */
async function errorOf(work: Promise<unknown>): Promise<readonly unknown[]> {
  const [result] = await clock.settle(Promise.allSettled([work]));
  assert.ok(
    result?.status === "rejected" && isLockError(result.reason),
    `expected a LockError, found ${result?.status}`,
  );
  const { code, isDefinite, mayBeInFlight } = result.reason;
  return [code, isDefinite, mayBeInFlight];
}

const CANCELLED = ["backend_unavailable", true, false];
const IN_FLIGHT = ["outcome_unknown", false, true];

describe("a write that overwrites the stock", () => {
  it("is not cancelled if the reply arrives within the limit, and its connection is reused", async () => {
    const work = write();
    await clock.advance(LIMIT_MS - 1);
    reply({ order_id: "42" });
    assert.deepEqual(await clock.settle(work), { order_id: "42" });
    assert.deepEqual([cancelledAtMs, postgres.released], [[], [undefined]]);
    assert.equal(clock.pendingTimers, 0, "expected no timer after the reply");
  });

  it("is cancelled at the limit, and has failed for certain when PostgreSQL confirms that", async () => {
    onCancel = async () => reply(sqlError("57014"));
    assert.deepEqual(await errorOf(write()), CANCELLED);
    assert.deepEqual(cancelledAtMs, [LIMIT_MS]);
  });

  it("has sold if it completed before the cancel request arrived, and its connection is closed", async () => {
    onCancel = async () => reply({ order_id: "42" });
    assert.deepEqual(await clock.settle(write()), { order_id: "42" });
    assert.match(postgres.released[0]?.message ?? "", /cancel request might hit the next statement/);
  });

  it("has the connection closed if PostgreSQL refuses it after the cancel request", async () => {
    onCancel = async () => reply(sqlError("22021"));
    assert.deepEqual(await errorOf(write()), CANCELLED);
    assert.match(postgres.released[0]?.message ?? "", /cancel request might hit the next statement/);
  });

  it("may still be in flight if PostgreSQL does not confirm the cancel request in time", async () => {
    onCancel = () => clock.sleep(CANCEL_LIMIT_MS);
    assert.deepEqual(await errorOf(write()), IN_FLIGHT);
    assert.equal(clock.nowMs(), LIMIT_MS + CANCEL_LIMIT_MS + END_LIMIT_MS);
    assert.match(postgres.released[0]?.message ?? "", /cancel request/);
  });

  it("is cancelled and may still be in flight if its connection breaks", async () => {
    reply(lostReply());
    assert.deepEqual(await errorOf(write()), IN_FLIGHT);
    assert.deepEqual(cancelledAtMs, [0]);
  });

  it("is no longer in flight if PostgreSQL ended it in a shutdown, although its outcome is unknown", async () => {
    reply(sqlError("57P01"));
    assert.deepEqual(await errorOf(write()), ["outcome_unknown", false, false]);
    assert.deepEqual(cancelledAtMs, []);
  });

  it("is cancelled likewise if it gives units back", async () => {
    const work = store.release(giveBackOf(), { name: "releaseAbsolute", values: [5], strategyId: "test-lock" });
    assert.deepEqual(await errorOf(work), IN_FLIGHT);
    assert.deepEqual(cancelledAtMs, [LIMIT_MS]);
  });

  it("leaves the limit of pg above the wait for its end, because pg discards a later reply", async () => {
    onCancel = async () => reply({ order_id: "42" });
    await clock.settle(write());
    const [sent] = postgres.sent;
    const leastMs = LIMIT_MS + CANCEL_LIMIT_MS + END_LIMIT_MS;
    assert.ok((sent?.timeoutMs ?? 0) > leastMs, `expected more than ${leastMs} ms, found ${sent?.timeoutMs}`);
  });
});

describe("a write that cannot undo that of the next holder", () => {
  for (const [why, name] of [
    ["its fencing token is checked", "writeFenced"],
    ["it is conditional", "takeGuarded"],
  ] as const)
    it(`is not cancelled and is not reported as in flight: ${why}`, async () => {
      reply(lostReply());
      const statement = { name, values: [], strategyId: "test" };
      assert.deepEqual(await errorOf(store.run(purchaseOf(), statement)), ["outcome_unknown", false, false]);
      assert.deepEqual([cancelledAtMs, postgres.sent[0]?.timeoutMs], [[], LIMIT_MS]);
    });

  it("is not cancelled and is not reported as in flight: its transaction holds the lock", async () => {
    reply(lostReply());
    const statement = { name: "writeAbsolute", values: [], strategyId: "test", tx: postgres.client as never } as const;
    assert.deepEqual(await errorOf(store.run(purchaseOf(), statement)), CANCELLED);
    assert.deepEqual(cancelledAtMs, []);
  });
});
