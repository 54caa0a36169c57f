import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { currentNode } from "../../../lib/node/current-node";
import { closeLockClients } from "../../../lib/node/lock-dependencies";
import { postgresPool } from "../../../lib/services/postgres";
import * as api from "../../../lib/shop/api";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeCoupon, makeProduct, productFacts } from "../../support/rows";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ STORE_NODE: "visitors-test", LOCK_STRATEGY: "sql-guarded", BUYER_RATE_PER_SECOND: "0" });

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const errorOf = ({ body }: Answer) => (body as { error?: { code: string } }).error?.code;
const productIdOf = (id: number) => `/api/products/${id}/reduce-stock`;

/** The route files of Next that these tests call. */
const routes = {
  "/api/buyer": () => import("../../../app/api/buyer/route"),
  "/api/orders": () => import("../../../app/api/orders/route"),
  "/api/orders/{id}": () => import("../../../app/api/orders/[id]/route"),
  "/api/orders/{id}/pay": () => import("../../../app/api/orders/[id]/pay/route"),
  "/api/orders/{id}/cancel": () => import("../../../app/api/orders/[id]/cancel/route"),
  "/api/purchase-tokens": () => import("../../../app/api/purchase-tokens/route"),
  "/api/products/{id}": () => import("../../../app/api/products/[id]/route"),
  "/api/stock/drift": () => import("../../../app/api/stock/drift/route"),
  "/api/stock/reconcile": () => import("../../../app/api/stock/reconcile/route"),
  "/api/locks/break": () => import("../../../app/api/locks/break/route"),
};

interface Call {
  readonly cookie?: string;
  readonly id?: string | number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly query?: string;
}

type Handler = (request: Request) => Promise<Response>;

/** Calls a route file as Next does: GET without a body, else POST. */
async function call(
  path: keyof typeof routes,
  { cookie, id = "", body, headers, query = "" }: Call = {},
): Promise<Answer> {
  const module: Partial<Record<"GET" | "POST", Handler>> = await routes[path]();
  const method = body === undefined ? "GET" : "POST";
  const request = new Request(`http://127.0.0.1${path.replace("{id}", String(id))}${query}`, {
    method,
    headers: { "content-type": "application/json", ...(cookie === undefined ? {} : { cookie }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const handler = module[method];
  assert.ok(handler, `expected app${path} to export ${method}`);
  const response = await handler(request);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

describe("visitors", () => {
  let server: Awaited<ReturnType<typeof startHotServer>>;
  before(async () => {
    server = await startHotServer();
  });
  after(async () => {
    await server.close();
    await currentNode()[Symbol.asyncDispose]();
    await closeLockClients();
    await postgresPool().end();
  });

  async function visitor(): Promise<{ userId: string; cookie: string }> {
    const answer = await call("/api/buyer");
    const { buyerId } = api.buyerAnswerSchema.parse(answer.body);
    const [cookie = ""] = answer.headers.get("set-cookie")?.split(";") ?? [];
    return { userId: buyerId, cookie };
  }

  async function buy(path: string, cookie: string, body: unknown): Promise<Answer> {
    const headers = { "content-type": "application/json", cookie };
    const response = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async function ordered(productId: number, { userId, cookie }: { userId: string; cookie: string }): Promise<string> {
    const answer = await buy(productIdOf(productId), cookie, { userId });
    return api.reduceStockAnswerSchema.parse(answer.body).order.id;
  }

  it("keep their id with a signed cookie, and get a new one with a forged cookie", async () => {
    const { userId, cookie } = await visitor();
    const again = await call("/api/buyer", { cookie });
    assert.deepEqual(again.body, { buyerId: userId });
    assert.match(again.headers.get("set-cookie") ?? "", /HttpOnly; SameSite=Lax/);
    const forged = `${cookie.slice(0, -3)}${cookie.endsWith("AAA") ? "BBB" : "AAA"}`;
    assert.notDeepEqual((await call("/api/buyer", { cookie: forged })).body, { buyerId: userId });
    assert.equal(errorOf(await call("/api/orders", { cookie: forged })), "buyer_required");
    assert.equal(errorOf(await call("/api/orders")), "buyer_required");
  });

  it("can buy only with their own id", async () => {
    const productId = await makeProduct(2);
    const [mine, theirs] = [await visitor(), await visitor()];
    const stolen = await buy(productIdOf(productId), mine.cookie, { userId: theirs.userId });
    assert.deepEqual([stolen.status, errorOf(stolen)], [403, "buyer_mismatch"]);
    assert.equal((await buy(productIdOf(productId), mine.cookie, { userId: mine.userId })).status, 201);
    assert.deepEqual(await productFacts(productId), { stock: 1, orders: 1 });
  });

  it("see their orders and coupons, pay, cancel, and get a reason for each rejection", async () => {
    const productId = await makeProduct(5);
    const [mine, theirs] = [await visitor(), await visitor()];
    const { cookie } = mine;
    const first = await ordered(productId, mine);
    const second = await ordered(productId, mine);
    const claim = await buy(`/api/coupons/${await makeCoupon(1)}/claim`, cookie, { userId: mine.userId });
    assert.equal(claim.status, 201);

    assert.equal(
      errorOf(await call("/api/orders/{id}/pay", { cookie, id: first, body: { outcome: "fail" } })),
      "payment_failed",
    );
    const paid = await call("/api/orders/{id}/pay", { cookie, id: first, body: { outcome: "succeed" } });
    assert.equal(api.orderAnswerSchema.parse(paid.body).order.status, "paid");
    const twice = await call("/api/orders/{id}/pay", { cookie, id: first, body: { outcome: "succeed" } });
    assert.deepEqual([twice.status, errorOf(twice)], [409, "order_not_pending"]);
    const foreign = await call("/api/orders/{id}/cancel", { cookie: theirs.cookie, id: second, body: {} });
    assert.deepEqual([foreign.status, errorOf(foreign)], [404, "order_not_found"]);
    const crossSite = await call("/api/orders/{id}/cancel", {
      cookie,
      id: second,
      body: {},
      headers: { origin: "http://evil.example" },
    });
    assert.equal(errorOf(crossSite), "cross_site");
    const headers = { "idempotency-key": randomUUID() };
    const cancels = await Promise.all(
      [1, 2, 3].map(() => call("/api/orders/{id}/cancel", { cookie, id: second, body: {}, headers })),
    );
    for (const { status, body } of cancels) {
      assert.equal(status, 200);
      assert.equal(api.orderAnswerSchema.parse(body).order.status, "cancelled");
    }

    const { orders, claims } = api.ordersAnswerSchema.parse((await call("/api/orders", { cookie })).body);
    assert.deepEqual(
      orders.map(({ id, status }) => [id, status]),
      [
        [second, "cancelled"],
        [first, "paid"],
      ],
    );
    assert.equal(orders[1]?.failedPayments, 1);
    assert.equal(claims.length, 1);
    assert.equal((await call("/api/orders/{id}", { cookie, id: first })).status, 200);
    assert.equal(errorOf(await call("/api/orders/{id}", { cookie: theirs.cookie, id: first })), "order_not_found");
    const { product, orders: units } = api.productAnswerSchema.parse(
      (await call("/api/products/{id}", { id: productId })).body,
    );
    assert.deepEqual([product.stock, units.paidUnits, units.cancelledUnits, units.failedPayments], [4, 1, 1, 1]);
  });

  it("need their unused purchase token if the product requires one", async () => {
    const productId = await makeProduct(9, { requiresPurchaseToken: true });
    const [mine, theirs] = [await visitor(), await visitor()];
    const issue = async ({ cookie }: { cookie: string }) => {
      const answer = await call("/api/purchase-tokens", { cookie, body: { productId } });
      return { status: answer.status, ...api.purchaseTokenAnswerSchema.parse(answer.body) };
    };
    const [issued, again] = await Promise.all([issue(mine), issue(mine)]);
    assert.equal(issued.purchaseToken, again.purchaseToken, "expected one unused token per buyer");
    assert.deepEqual([issued.status, again.status].toSorted(), [200, 201]);
    const { purchaseToken } = issued;
    const use = (token: string | undefined, { userId, cookie } = mine) =>
      buy(productIdOf(productId), cookie, { userId, purchaseToken: token });

    const missing = await use(undefined);
    assert.deepEqual([missing.status, errorOf(missing)], [403, "purchase_token_missing"]);
    assert.equal(errorOf(await use("never-issued")), "purchase_token_unknown");
    assert.equal(errorOf(await use(purchaseToken, theirs)), "purchase_token_foreign");
    const clicks = await Promise.all([1, 2, 3, 4].map(() => use(purchaseToken)));
    assert.deepEqual(clicks.map((click) => (click.status === 201 ? "sold" : errorOf(click))).toSorted(), [
      "purchase_token_used",
      "purchase_token_used",
      "purchase_token_used",
      "sold",
    ]);
    assert.deepEqual(await productFacts(productId), { stock: 8, orders: 1 });
    const next = await issue(mine);
    assert.notEqual(next.purchaseToken, purchaseToken);
    await postgresPool().query("UPDATE products SET stock = 0 WHERE id = $1", [productId]);
    assert.equal(errorOf(await use(next.purchaseToken)), "sold_out");
    await postgresPool().query("UPDATE products SET stock = 1 WHERE id = $1", [productId]);
    assert.equal((await use(next.purchaseToken)).status, 201, "expected a rejected purchase not to use the token");
    const unknown = await call("/api/purchase-tokens", { cookie: mine.cookie, body: { productId: 2_147_483_647 } });
    assert.equal(errorOf(unknown), "product_not_found");
  });

  it("cannot buy before the sale opens", async () => {
    const opensAt = new Date(Date.now() + 60_000);
    const productId = await makeProduct(1, { opensAt });
    const early = await buy(productIdOf(productId), "", { userId: "early" });
    assert.deepEqual([early.status, errorOf(early)], [409, "not_open"]);
    assert.ok(Number(early.headers.get("retry-after")) > 50);
    const { product } = api.productAnswerSchema.parse((await call("/api/products/{id}", { id: productId })).body);
    assert.equal(product.opensAtEpochMs, opensAt.getTime());
  });

  it("see the drift of a counter, and an operator reconciles it", async () => {
    const productId = await makeProduct(5);
    currentNode().switchStrategy("redis-decrement");
    await ordered(productId, await visitor());
    currentNode().switchStrategy("sql-guarded");
    const redis = new Redis(process.env.REDIS_URL ?? "");
    // The state after a crash: off the counter, in the journal, and no order.
    await redis.decrby(`stock:product:${productId}`, 2);
    await redis.hset(`journal:product:${productId}`, "lost-operation", "2:1:buyer");
    const query = `?kind=product&id=${productId}`;
    const drift = async () => api.driftAnswerSchema.parse((await call("/api/stock/drift", { query })).body).drift;
    assert.deepEqual(await drift(), [{ keptIn: "redis", counter: 2, stock: 4, pending: 2, drift: -2 }]);
    const { settled } = api.reconcileAnswerSchema.parse((await call("/api/stock/reconcile", { body: {} })).body);
    assert.equal(settled.find(({ target }) => target.id === productId)?.givenBack, 2);
    assert.deepEqual(await drift(), [{ keptIn: "redis", counter: 4, stock: 4, pending: 0, drift: 0 }]);
    redis.disconnect();
  });

  it("can buy again after an operator breaks a lock without expiry", async () => {
    const productId = await makeProduct(1);
    const redis = new Redis(process.env.REDIS_URL ?? "");
    await redis.set(`redis-setnx:product:${productId}`, "crashed-holder");
    const body = { strategy: "redis-setnx", target: { kind: "product", id: productId } };
    const resource = `product:${productId}`;
    const broken = (await call("/api/locks/break", { body })).body;
    assert.deepEqual(api.breakLockAnswerSchema.parse(broken), { strategy: "redis-setnx", resource, broken: true });
    assert.deepEqual((await call("/api/locks/break", { body })).body, {
      strategy: "redis-setnx",
      resource,
      broken: false,
    });
    const others = [
      ["redis-lock", "lock_expires_by_itself"],
      ["nonsense", "unknown_strategy"],
    ];
    for (const [strategy, code] of others) {
      assert.equal(errorOf(await call("/api/locks/break", { body: { ...body, strategy } })), code);
    }
    redis.disconnect();
  });
});
