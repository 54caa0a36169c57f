import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../locks/clock";
import { MemcachedError } from "../locks/memcached/memcached-port";
import { systemRandom } from "../locks/random";
import { keyOf } from "./buyer-mutex";
import { CounterQueries } from "./counter-queries";
import { MemcachedCas } from "./memcached-cas";
import { StockStore } from "./stock-store";
import { FakeMemcached } from "./testing/fake-memcached";
import { FakePostgres, lostReply, type Reply, sqlError } from "./testing/fake-postgres";
import { assertLockError, COUPON, giveBackOf, PRODUCT, purchaseOf } from "./testing/requests";

// A journal entry that stays behind is logged as a warning.
process.env.LOG_LEVEL = "silent";

const KEY = "stock:product:7";
const SOLD = { order_id: "42", stock: 4 };
const RUN = { runId: "run-1" };

interface NodeParts {
  readonly postgres: FakePostgres;
  readonly client: FakeMemcached;
  readonly random?: number;
}

function nodeOf(node: string, { postgres: { pool }, client, random = 0 }: NodeParts): MemcachedCas {
  return new MemcachedCas({
    store: new StockStore(pool, node),
    queries: new CounterQueries(pool, "memcached-cas"),
    client,
    dependencies: { clock: systemClock, random: { ...systemRandom, fraction: () => random } },
  });
}

async function setUp({ counter = 5 as number | null, random = 0, order = SOLD as Reply } = {}) {
  const events: string[] = [];
  const postgres = new FakePostgres(events).reply("takeGuarded", order);
  const client = new FakeMemcached(events);
  const strategy = nodeOf("node-1", { postgres, client, random });
  if (counter !== null) await strategy.prepare(PRODUCT, counter);
  events.length = 0;
  const pending = async () => (await strategy.drift(PRODUCT)).pending;
  return { events, postgres, client, strategy, pending };
}

const unreachable = () => {
  throw new MemcachedError("unreachable", "no reply");
};

describe("memcached-cas", () => {
  it("enters the journal, takes the unit by cas, writes the order, and clears the journal, in this order", async () => {
    const { events, client, strategy } = await setUp();
    const request = purchaseOf(RUN);
    assert.deepEqual(await strategy.reduceStock(request), { status: "sold", orderId: "42" });
    const changes = events.filter((event) => !/ gets | add journal/.test(event));
    assert.deepEqual(changes, [
      "memcached set journal",
      "memcached cas stock",
      "postgres takeGuarded",
      "memcached set journal",
    ]);
    assert.equal(client.value(KEY), "4");
    assert.deepEqual([request.trace.readValue, request.trace.writtenValue], [5, 4]);
  });

  it("takes nothing when the journal entry cannot be written", async () => {
    const { client, postgres, strategy } = await setUp();
    client.before = (command, key) => {
      if (command === "set" && key.startsWith("journal:")) unreachable();
    };
    await assertLockError(strategy.reduceStock(purchaseOf(RUN)), "backend_unavailable", { isDefinite: true });
    assert.deepEqual([client.value(KEY), postgres.sent.length], ["5", 0]);
  });

  it("retries with the new value when another write came between read and cas", async () => {
    const { client, events, strategy } = await setUp();
    let writes = 2;
    client.before = (command, key) => {
      if (command === "cas" && key === KEY && writes-- > 0) client.store({ key, value: "3", expirySeconds: 900 });
    };
    const request = purchaseOf({ ...RUN, waitTimeoutMs: 5_000 });
    assert.equal((await strategy.reduceStock(request)).status, "sold");
    assert.deepEqual([request.trace.attempts, client.value(KEY)], [3, "2"]);
    const journalWrites = events.filter((event) => event === "memcached set journal").length;
    assert.equal(journalWrites, 2, "expected one journal entry for all attempts, and its removal");
  });

  it("is contended when the next delay would exceed the wait timeout, and leaves no journal entry", async () => {
    const { client, postgres, strategy, pending } = await setUp({ random: 1 });
    postgres.reply("stock", { stock: 5 });
    client.before = (command, key) => {
      if (command === "cas" && key === KEY) client.store({ key, value: "5", expirySeconds: 900 });
    };
    const request = purchaseOf({ ...RUN, waitTimeoutMs: 5 });
    const outcome = await strategy.reduceStock(request);
    assert.ok(outcome.status === "contended" && outcome.attempts === 1, JSON.stringify(outcome));
    assert.deepEqual([request.trace.writeAccepted, request.trace.writtenValue], [false, undefined]);
    assert.equal(await pending(), 0);
  });

  it("is sold out by the counter alone, without a journal entry or a statement", async () => {
    const { events, strategy } = await setUp({ counter: 1 });
    assert.deepEqual(await strategy.reduceStock(purchaseOf({ ...RUN, quantity: 2 })), { status: "sold_out" });
    assert.ok(!events.some((event) => /set|cas|postgres/.test(event)), events.join(", "));
  });

  it("keeps the unit and the entry when the reply to the order is lost", async () => {
    const { client, postgres, strategy, pending } = await setUp({ order: lostReply() });
    postgres.reply("stock", { stock: 5 });
    await assertLockError(strategy.reduceStock(purchaseOf(RUN)), "outcome_unknown", { isDefinite: false });
    assert.deepEqual([client.value(KEY), await pending()], ["4", 1]);
  });

  it("keeps the entry when the reply to the cas is lost, because the counter may have changed", async () => {
    const { client, postgres, strategy, pending } = await setUp();
    postgres.reply("stock", { stock: 5 });
    client.after = (command, key) => command === "cas" && key === KEY && unreachable();
    await assertLockError(strategy.reduceStock(purchaseOf(RUN)), "backend_unavailable", { isDefinite: true });
    client.after = () => {};
    assert.deepEqual([client.value(KEY), await pending()], ["4", 1]);
  });

  it("keeps the entry when the unit of a refused order may not have come back to the counter", async () => {
    const { client, postgres, strategy, pending } = await setUp({ order: sqlError("22021") });
    postgres.reply("stock", { stock: 5 });
    client.before = (command) => {
      if (command === "increment") unreachable();
    };
    await assertLockError(strategy.reduceStock(purchaseOf(RUN)), "backend_unavailable", { isDefinite: true });
    assert.deepEqual([client.value(KEY), await pending()], ["4", 1]);
  });

  for (const [reason, order] of [
    ["rejects the buyer", sqlError("23505", "orders_idempotency_key")],
    ["refuses the statement", sqlError("22021")],
    ["has fewer units than the counter", null],
  ] as const)
    it(`gives the unit back and clears the journal when PostgreSQL ${reason}`, async () => {
      const { client, strategy } = await setUp({ order });
      await Promise.allSettled([strategy.reduceStock(purchaseOf(RUN))]);
      assert.deepEqual([client.value(KEY), client.value("journal:product:7:node-1")], ["5", ""]);
    });

  it("stops a run whose counter has vanished instead of selling the row's stock again", async () => {
    const { client, postgres, strategy } = await setUp({ counter: null });
    await assertLockError(strategy.reduceStock(purchaseOf(RUN)), "backend_unavailable", { isDefinite: true });
    assert.deepEqual([client.value(KEY), postgres.sent.length], [null, 0]);
  });

  it("creates the counter from the row outside of runs", async () => {
    const { client, postgres, strategy } = await setUp({ counter: null });
    postgres.reply("read", { stock: 3, version: 1 });
    assert.equal((await strategy.reduceStock(purchaseOf())).status, "sold");
    assert.equal(client.value(KEY), "2");
  });

  it("enters the journal in a later attempt if the first found no counter", async () => {
    const { client, events, postgres, strategy } = await setUp({ counter: null });
    postgres.reply("read", { stock: 3, version: 1 });
    let reads = 0;
    // Memcached evicts the new counter before it is read again.
    client.before = (command, key) => {
      if (command === "gets" && key === KEY && ++reads === 2) client.items.delete(KEY);
    };
    const request = purchaseOf({ waitTimeoutMs: 5_000 });
    assert.equal((await strategy.reduceStock(request)).status, "sold");
    assert.equal(request.trace.attempts, 2);
    const order = ["memcached set journal", "memcached cas stock"];
    assert.deepEqual(
      events.filter((event) => order.includes(event)),
      [...order, "memcached set journal"],
      "expected the entry before the counter changes, and its removal",
    );
  });

  it("leaves writeAccepted open when the reply to the cas of a retry is lost", async () => {
    const { client, strategy } = await setUp();
    let attempts = 0;
    client.before = (command, key) => {
      if (command === "cas" && key === KEY && attempts++ === 0) client.store({ key, value: "5", expirySeconds: 900 });
    };
    client.after = (command, key) => command === "cas" && key === KEY && attempts === 2 && unreachable();
    const request = purchaseOf({ ...RUN, waitTimeoutMs: 5_000 });
    await assertLockError(strategy.reduceStock(request), "backend_unavailable", { isDefinite: true });
    assert.equal(request.trace.writeAccepted, undefined);
    assert.equal(request.trace.writtenValue, 4);
  });
});

describe("a limited buyer under memcached-cas", () => {
  it("does not touch the counter when PostgreSQL says that the limit is reached", async () => {
    const { events, client, postgres, strategy } = await setUp();
    postgres.reply("bought", { buyer: "buyer-1", units: 2 });
    const request = purchaseOf({ ...RUN, limitPerBuyer: 2 });
    assert.deepEqual(await strategy.reduceStock(request), { status: "limit_reached" });
    assert.ok(!events.some((event) => event.includes("stock")), events.join(", "));
    assert.equal(client.value(keyOf(purchaseOf())), null, "expected the buyer's key to be released");
  });

  it("is contended while another purchase of the same buyer is in progress", async () => {
    const { client, postgres, strategy } = await setUp();
    const request = purchaseOf({ target: COUPON });
    client.store({ key: keyOf(request), value: "op-0", expirySeconds: 5 });
    const outcome = await strategy.reduceStock(request);
    assert.equal(outcome.status, "contended");
    assert.equal(postgres.sent.length, 0);
    assert.equal(client.value(keyOf(request)), "op-0", "expected the key of the other purchase to stay");
  });
});

describe("a give-back under memcached-cas", () => {
  const released = [{ orderId: "12", buyerId: "buyer-2", quantity: 2 }];

  it("enters the journal, ends the orders, and then returns only the units of the ended orders", async () => {
    const { events, client, postgres, strategy } = await setUp();
    postgres.reply("releaseRelative", { due: 1, released });
    assert.deepEqual(await strategy.giveBack(giveBackOf()), { status: "released", orders: released });
    assert.equal(client.value(KEY), "7");
    const order = ["memcached set journal", "postgres releaseRelative", "memcached increment stock"];
    assert.deepEqual(
      events.filter((event) => order.includes(event)),
      [...order, "memcached set journal"],
    );
  });

  it("keeps the entry for reconcile when the reply of PostgreSQL is lost", async () => {
    const { client, postgres, strategy, pending } = await setUp();
    postgres.reply("releaseRelative", lostReply()).reply("stock", { stock: 5 });
    await assertLockError(strategy.giveBack(giveBackOf()), "outcome_unknown", { isDefinite: false });
    assert.deepEqual([client.value(KEY), await pending()], ["5", 3]);
  });
});

describe("the drift of a counter in Memcached", () => {
  it("counts a purchase between its two reads as pending", async () => {
    const { client, postgres, strategy } = await setUp({ order: lostReply() });
    postgres.reply("stock", { stock: 5 });
    let reads = 0;
    client.before = async (command) => {
      if (command !== "gets" || ++reads !== 2) return;
      await Promise.allSettled([strategy.reduceStock(purchaseOf(RUN))]);
    };
    assert.deepEqual(await strategy.drift(PRODUCT), { counter: 5, stock: 5, pending: 1, drift: 0 });
  });
});

describe("reconciling a counter in Memcached", () => {
  it("leaves the counter alone while a journal entry is young", async () => {
    const { client, postgres, strategy } = await setUp({ order: lostReply() });
    postgres.reply("stock", { stock: 5 });
    await Promise.allSettled([strategy.reduceStock(purchaseOf(RUN))]);
    assert.deepEqual(await strategy.reconcile(PRODUCT), { kept: 0, givenBack: 0, pending: 1, corrected: 0 });
    assert.equal(client.value(KEY), "4");
    const result = await strategy.reconcile(PRODUCT, { isDead: (opId) => opId === "op-1" });
    assert.deepEqual(result, { kept: 0, givenBack: 0, pending: 0, corrected: 1 });
    assert.equal(client.value(KEY), "5");
  });

  it("corrects no more units than the journal has, if it may change the counter only by those", async () => {
    const settle = { isDead: () => true, journalOnly: true };
    for (const [stock, corrected] of [
      [5, 1],
      [4, 0],
      [6, 0],
      [3, 0],
    ] as const) {
      const { client, postgres, strategy, pending } = await setUp({ order: lostReply() });
      postgres.reply("stock", { stock });
      await Promise.allSettled([strategy.reduceStock(purchaseOf(RUN))]);
      assert.equal((await strategy.reconcile(PRODUCT, settle)).corrected, corrected, `the row has ${stock} units`);
      assert.deepEqual([client.value(KEY), await pending()], [String(4 + corrected), 0]);
    }
  });

  it("leaves the entries of another node to that node, and does not correct the counter twice", async () => {
    const { client, postgres, strategy, pending } = await setUp({ order: lostReply() });
    postgres.reply("stock", { stock: 5 });
    await Promise.allSettled([strategy.reduceStock(purchaseOf(RUN))]);
    const other = nodeOf("node-2", { postgres, client });
    const settle = { isDead: () => true, journalOnly: true };
    assert.equal((await other.reconcile(PRODUCT, settle)).corrected, 1);
    assert.deepEqual([client.value(KEY), await pending()], ["5", 1]);
    assert.equal((await strategy.reconcile(PRODUCT, settle)).corrected, 0);
    assert.deepEqual([client.value(KEY), await pending()], ["5", 0]);
  });

  it("does not overwrite a counter that changed after it was read", async () => {
    const { client, postgres, strategy } = await setUp({ counter: 3 });
    postgres.reply("stock", { stock: 5 });
    postgres.onStatement = () => client.store({ key: KEY, value: "2", expirySeconds: 900 });
    assert.equal((await strategy.reconcile(PRODUCT)).corrected, 0);
    assert.equal(client.value(KEY), "2");
  });

  it("reads the counter before the journal, so that a purchase in between is not missed", async () => {
    const { events, postgres, strategy } = await setUp();
    postgres.reply("stock", { stock: 5 });
    await strategy.reconcile(PRODUCT);
    assert.deepEqual(events.slice(0, 2), ["memcached gets stock", "memcached gets journal"]);
  });
});
