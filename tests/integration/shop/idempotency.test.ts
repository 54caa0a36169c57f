import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { currentNode } from "../../../lib/node/current-node";
import { closeLockClients } from "../../../lib/node/lock-dependencies";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { REPLAYED_HEADER } from "../../../lib/shop/idempotency";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";
import { couponFacts, makeCoupon, makeProduct, productFacts } from "../../support/rows";
import { buyAt, type ShopAnswer, ShopNode } from "../../support/shop-node";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({
  STORE_NODE: "keys-test",
  LOCK_STRATEGY: "sql-guarded",
  BUYER_RATE_PER_SECOND: "0",
  HOLD_MS: "20",
  WAIT_TIMEOUT_MS: "2000",
});

/** The answer without headers, which differ for a replay. */
const statusAndBody = ({ status, body }: ShopAnswer) => ({ status, body });

describe("Idempotency-Key", () => {
  let server: Awaited<ReturnType<typeof startHotServer>>;
  let other: ShopNode;
  before(async () => {
    server = await startHotServer();
    const env = { BUYER_RATE_PER_SECOND: "0", HOLD_MS: "20" };
    other = await ShopNode.start({ name: "keys-other", strategy: "sql-guarded", env });
  });
  after(async () => {
    await server.close();
    await other[Symbol.asyncDispose]();
    await currentNode()[Symbol.asyncDispose]();
    await closeLockClients();
    await postgresPool().end();
  });

  const claims = (key: string) => prisma().idempotencyKey.findMany({ where: { key } });

  it("returns the first answer verbatim, also on another node and while the first request is still running", async () => {
    const productId = await makeProduct(5);
    const order = { userId: "buyer", quantity: 2, key: randomUUID() };
    const at = (url: string) => buyAt(url, { productId }, order);
    const answers = await Promise.all([at(server.url), at(server.url), at(other.url), at(other.url)]);
    answers.push(await at(server.url), await at(other.url));
    const [first] = answers;
    assert.ok(first);
    assert.equal(first.status, 201);
    for (const answer of answers) assert.deepEqual(statusAndBody(answer), statusAndBody(first));
    assert.equal(answers.filter(({ headers }) => !headers.has(REPLAYED_HEADER)).length, 1);
    assert.deepEqual(await productFacts(productId), { stock: 3, orders: 1 });
  });

  it("replays a rejection even if the stock has changed since", async () => {
    const productId = await makeProduct(0);
    const order = { userId: "buyer", key: randomUUID() };
    const first = await buyAt(server.url, { productId }, order);
    assert.equal(first.body.error?.code, "sold_out");
    await prisma().product.update({ where: { id: productId }, data: { stock: 5 } });
    assert.deepEqual(statusAndBody(await buyAt(other.url, { productId }, order)), statusAndBody(first));
    assert.equal((await buyAt(other.url, { productId }, { ...order, key: randomUUID() })).status, 201);
  });

  it("is rejected with 422 for another body, and is independent for another buyer or product", async () => {
    const productId = await makeProduct(5);
    const key = randomUUID();
    assert.equal((await buyAt(server.url, { productId }, { userId: "a", key })).status, 201);
    const changed = await buyAt(other.url, { productId }, { userId: "a", quantity: 2, key });
    assert.deepEqual([changed.status, changed.body.error?.code], [422, "idempotency_mismatch"]);
    assert.equal((await buyAt(server.url, { productId }, { userId: "b", key })).status, 201);
    assert.equal((await buyAt(server.url, { productId: await makeProduct(1) }, { userId: "a", key })).status, 201);
    assert.deepEqual(await productFacts(productId), { stock: 3, orders: 2 });
  });

  it("is rejected with 400 if it is malformed", async () => {
    const productId = await makeProduct(1);
    for (const key of ["a b", "x".repeat(201), "é"]) {
      const [outcome] = await Promise.allSettled([buyAt(server.url, { productId }, { userId: "a", key })]);
      if (outcome.status === "rejected") continue; // The HTTP client refuses to send it.
      assert.deepEqual([outcome.value.status, outcome.value.body.error?.code], [400, "invalid_request"]);
    }
    assert.deepEqual(await productFacts(productId), { stock: 1, orders: 0 });
  });

  it("is free again after a retryable answer", async () => {
    const productId = await makeProduct(1);
    const order = { userId: "buyer", key: randomUUID() };
    const lockKey = `redis-setnx:product:${productId}`;
    currentNode().switchStrategy("redis-setnx");
    const redis = new Redis(process.env.REDIS_URL ?? "");
    await redis.set(lockKey, "held");
    const busy = await buyAt(server.url, { productId }, order);
    assert.equal(busy.body.error?.code, "contended");
    await redis.del(lockKey);
    redis.disconnect();
    assert.equal((await buyAt(server.url, { productId }, order)).status, 201);
    currentNode().switchStrategy("sql-guarded");
    assert.deepEqual(await productFacts(productId), { stock: 0, orders: 1 });
  });

  it("returns the order of a node that crashed before it stored its answer", async () => {
    const productId = await makeProduct(5);
    const order = { userId: "buyer", key: randomUUID() };
    const first = await buyAt(server.url, { productId }, order);
    // The state after a crash between the order's commit and the storing of the answer.
    await prisma().idempotencyKey.updateMany({
      where: { key: order.key },
      data: { status: null, body: null, claimedUntil: new Date(Date.now() - 1) },
    });
    assert.deepEqual(statusAndBody(await buyAt(other.url, { productId }, order)), statusAndBody(first));
    assert.deepEqual(await productFacts(productId), { stock: 4, orders: 1 });
    assert.equal((await claims(order.key))[0]?.status, 201);
  });

  it("sells once if two requests hold the claim, with every kind of guard", async () => {
    for (const strategy of ["none", "sql-guarded", "redis-lock", "redis-decrement", "memcached-cas", "sql-buckets"]) {
      await other.switchStrategy(strategy);
      currentNode().switchStrategy(strategy);
      const productId = await makeProduct(5);
      const order = { userId: "buyer", key: randomUUID() };
      const first = buyAt(server.url, { productId }, order);
      await waitUntil(async () => (await claims(order.key)).length === 1, { what: "the claim" });
      // The first request's claim expires while it is still working.
      await prisma().idempotencyKey.updateMany({
        where: { key: order.key, status: null },
        data: { claimedUntil: new Date(0) },
      });
      const answers = [await buyAt(other.url, { productId }, order), await first];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 201],
        strategy,
      );
      assert.equal(answers[0]?.body.order?.id, answers[1]?.body.order?.id, strategy);
      const { orders } = await productFacts(productId);
      assert.equal(orders, 1, strategy);
    }
    currentNode().switchStrategy("sql-guarded");
    await other.switchStrategy("sql-guarded");
  });

  it("creates one order if a node crashes during the purchase and the buyer retries on another node", async () => {
    await using victim = await ShopNode.start({ name: "keys-victim", strategy: "redis-decrement" });
    await other.switchStrategy("redis-decrement");
    const productId = await makeProduct(3);
    const order = { userId: "buyer", key: randomUUID() };
    await victim.ask({ do: "stop before the order" });
    const lost = buyAt(victim.url, { productId }, order).catch((error: Error) => error);
    await victim.standsStill();
    await victim.kill();
    assert.ok((await lost) instanceof Error);
    // The crashed node does not renew its claim, so the claim expires.
    assert.equal((await buyAt(other.url, { productId }, order)).status, 201);
    assert.deepEqual(await productFacts(productId), { stock: 2, orders: 1 });
    await victim.start();
    const { settled } = await victim.reconcile();
    assert.deepEqual(
      settled.filter(({ target }) => target.id === productId).map(({ givenBack }) => givenBack),
      [1],
    );
    await other.switchStrategy("sql-guarded");
  });

  it("lets a repeated coupon claim succeed, and rejects a second claim without the key", async () => {
    const couponId = await makeCoupon(3);
    const claim = { userId: "buyer", key: randomUUID() };
    const answers = await Promise.all([
      buyAt(server.url, { couponId }, claim),
      buyAt(other.url, { couponId }, claim),
      buyAt(other.url, { couponId }, claim),
    ]);
    for (const answer of answers) assert.deepEqual(statusAndBody(answer), statusAndBody(answers[0] as ShopAnswer));
    assert.equal((await buyAt(server.url, { couponId }, { userId: "buyer" })).body.error?.code, "already_claimed");
    assert.deepEqual(await couponFacts(couponId), { stock: 2, claims: 1 });
  });
});
