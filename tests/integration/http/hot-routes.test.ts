import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { currentNode } from "../../../lib/node/current-node";
import { closeLockClients } from "../../../lib/node/lock-dependencies";
import { postgresPool } from "../../../lib/services/postgres";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";
import { couponFacts, makeCoupon, makeProduct, productFacts } from "../../support/rows";

requireEnv("DATABASE_URL");
// Redlock's servers are down, so a request that uses a lock answers 503. A 4xx proves that the request used none.
const closedServers = Array.from({ length: 5 }, () => "redis://127.0.0.1:9").join();
setEnv({ STORE_NODE: "parity", LOCK_STRATEGY: "redlock", REDLOCK_URLS: closedServers });

interface Call {
  readonly what: string;
  readonly path: string;
  readonly method?: string;
  readonly contentType?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

interface Seen {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string | null>;
}

const COMPARED_HEADERS = ["content-type", "cache-control", "x-store-node", "x-lock-strategy", "allow", "retry-after"];

async function seen(response: Response): Promise<Seen> {
  const headers = Object.fromEntries(COMPARED_HEADERS.map((name) => [name, response.headers.get(name)]));
  return { status: response.status, body: JSON.parse(await response.text()), headers };
}

function requestOf(call: Call, base: string): Request {
  const method = call.method ?? "POST";
  const headers = { "content-type": call.contentType ?? "application/json", ...call.headers };
  return new Request(`${base}${call.path}`, {
    method,
    headers,
    // Only POST has a body: fetch of Node.js 20.9 cannot send a DELETE with an empty one.
    ...(method === "POST" ? { body: call.body ?? "" } : {}),
  });
}

/** Sends the call to Next's route handler. */
async function byNext(call: Call): Promise<Seen> {
  const [, , kind] = call.path.split("/");
  const route =
    kind === "products"
      ? await import("../../../app/api/products/[id]/reduce-stock/route")
      : await import("../../../app/api/coupons/[id]/claim/route");
  const method = (call.method ?? "POST") as "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
  return seen(await route[method](requestOf(call, "http://127.0.0.1")));
}

describe("hot routes", () => {
  let server: Awaited<ReturnType<typeof startHotServer>>;
  before(async () => {
    server = await startHotServer();
  });
  after(async () => {
    await server.close();
    await closeLockClients();
    await postgresPool().end();
  });

  const byNode = async (call: Call) => seen(await fetch(requestOf(call, server.url)));

  const refusals: (Call & { status: number; code: string; field?: string })[] = [
    {
      what: "a body that is not JSON",
      path: "/api/products/1/reduce-stock",
      body: "{",
      status: 400,
      code: "invalid_request",
      field: "body",
    },
    {
      what: "an empty body",
      path: "/api/products/1/reduce-stock",
      body: "",
      status: 400,
      code: "invalid_request",
      field: "body",
    },
    {
      what: "a body that is not an object",
      path: "/api/products/1/reduce-stock",
      body: "[]",
      status: 400,
      code: "invalid_request",
      field: "body",
    },
    {
      what: "a missing userId",
      path: "/api/products/1/reduce-stock",
      body: "{}",
      status: 400,
      code: "invalid_request",
      field: "userId",
    },
    {
      what: "a userId of the wrong type",
      path: "/api/products/1/reduce-stock",
      body: '{"userId":7}',
      status: 400,
      code: "invalid_request",
      field: "userId",
    },
    {
      what: "an empty userId",
      path: "/api/coupons/1/claim",
      body: '{"userId":""}',
      status: 400,
      code: "invalid_request",
      field: "userId",
    },
    {
      what: "a userId with invalid characters",
      path: "/api/coupons/1/claim",
      body: '{"userId":"a b"}',
      status: 400,
      code: "invalid_request",
      field: "userId",
    },
    {
      what: "a quantity of zero",
      path: "/api/products/1/reduce-stock",
      body: '{"userId":"a","quantity":0}',
      status: 400,
      code: "invalid_request",
      field: "quantity",
    },
    {
      what: "a quantity that is not a whole number",
      path: "/api/products/1/reduce-stock",
      body: '{"userId":"a","quantity":1.5}',
      status: 400,
      code: "invalid_request",
      field: "quantity",
    },
    {
      what: "a quantity as text",
      path: "/api/products/1/reduce-stock",
      body: '{"userId":"a","quantity":"1"}',
      status: 400,
      code: "invalid_request",
      field: "quantity",
    },
    {
      what: "an unknown field",
      path: "/api/products/1/reduce-stock",
      body: '{"userId":"a","price":1}',
      status: 400,
      code: "invalid_request",
      field: "price",
    },
    {
      what: "a quantity for a coupon",
      path: "/api/coupons/1/claim",
      body: '{"userId":"a","quantity":1}',
      status: 400,
      code: "invalid_request",
      field: "quantity",
    },
    {
      what: "an id that is not a number",
      path: "/api/products/abc/reduce-stock",
      body: '{"userId":"a"}',
      status: 400,
      code: "invalid_request",
      field: "id",
    },
    {
      what: "an id that is too large",
      path: "/api/products/99999999999/reduce-stock",
      body: '{"userId":"a"}',
      status: 400,
      code: "invalid_request",
      field: "id",
    },
    {
      what: "an id that does not exist",
      path: "/api/products/2147483647/reduce-stock",
      body: '{"userId":"a"}',
      status: 404,
      code: "not_found",
    },
    {
      what: "a coupon that does not exist",
      path: "/api/coupons/2147483647/claim",
      body: '{"userId":"a"}',
      status: 404,
      code: "not_found",
    },
    {
      what: "a body over 1 KiB",
      path: "/api/products/1/reduce-stock",
      body: `{"userId":"${"a".repeat(1_100)}"}`,
      status: 413,
      code: "body_too_large",
      field: "body",
    },
    {
      what: "another content type",
      path: "/api/products/1/reduce-stock",
      contentType: "text/plain",
      body: '{"userId":"a"}',
      status: 415,
      code: "unsupported_media_type",
      field: "content-type",
    },
    { what: "GET", path: "/api/products/1/reduce-stock", method: "GET", status: 405, code: "method_not_allowed" },
    { what: "DELETE", path: "/api/coupons/1/claim", method: "DELETE", status: 405, code: "method_not_allowed" },
  ];

  for (const { status, code, field, ...call } of refusals) {
    it(`rejects ${call.what} with ${status} by node:http and by Next alike, naming the field`, async () => {
      const node = await byNode(call);
      assert.equal(node.status, status);
      const { error } = node.body as { error: { code: string; message: string; details?: { field?: string } } };
      assert.equal(error.code, code);
      assert.equal(error.details?.field, field);
      if (field) assert.ok(error.message.includes(field), error.message);
      assert.deepEqual(await byNext(call), node);
    });
  }

  it("answers 503 by node:http and by Next if the lock's servers are down, which proves the 4xx above used no lock", async () => {
    const id = await makeProduct(1);
    const call = { what: "", path: `/api/products/${id}/reduce-stock`, body: '{"userId":"a"}' };
    const node = await byNode(call);
    assert.equal(node.status, 503);
    assert.equal((node.body as { error: { code: string } }).error.code, "backend_unavailable");
    assert.equal(node.headers["retry-after"], "1");
    assert.equal((await byNext(call)).status, 503);
    assert.deepEqual(await productFacts(id), { stock: 1, orders: 0 });
  });

  it("sells by node:http and by Next with equal answers except for the order id", async () => {
    currentNode().switchStrategy("sql-guarded");
    const id = await makeProduct(5);
    const call = { what: "", path: `/api/products/${id}/reduce-stock`, body: '{"userId":"buyer-1","quantity":2}' };
    const answers = [await byNode(call), await byNext(call)];
    for (const answer of answers) {
      assert.equal(answer.status, 201);
      const { order, ...rest } = answer.body as { order: Record<string, unknown> };
      const { id: orderId, ...facts } = order;
      assert.match(String(orderId), /^[0-9]+$/);
      const placed = { status: "pending", stockTaken: true };
      assert.deepEqual(facts, { productId: id, userId: "buyer-1", quantity: 2, ...placed });
      assert.deepEqual(rest, { strategy: "sql-guarded", node: "parity" });
      assert.equal(answer.headers["x-lock-strategy"], "sql-guarded");
      assert.equal(answer.headers["x-store-node"], "parity");
    }
    const [viaNode, viaNext] = answers.map((answer) => answer.headers);
    assert.deepEqual(viaNext, viaNode);
    assert.deepEqual(await productFacts(id), { stock: 1, orders: 2 });
  });

  it("answers sold_out by node:http and by Next and changes nothing", async () => {
    const id = await makeProduct(1);
    const call = { what: "", path: `/api/products/${id}/reduce-stock`, body: '{"userId":"b","quantity":2}' };
    const node = await byNode(call);
    assert.equal(node.status, 409);
    assert.equal((node.body as { error: { code: string } }).error.code, "sold_out");
    assert.deepEqual(await byNext(call), node);
    assert.deepEqual(await productFacts(id), { stock: 1, orders: 0 });
  });

  it("gives a user one coupon, then answers already_claimed", async () => {
    const id = await makeCoupon(3);
    const call = { what: "", path: `/api/coupons/${id}/claim`, body: '{"userId":"claimer"}' };
    assert.equal((await byNode(call)).status, 201);
    const again = await byNode(call);
    assert.equal(again.status, 409);
    assert.equal((again.body as { error: { code: string } }).error.code, "already_claimed");
    assert.deepEqual(await byNext(call), again);
    assert.deepEqual(await couponFacts(id), { stock: 2, claims: 1 });
  });

  it("rejects a late request of a run that is not open, and sells nothing", async () => {
    const id = await makeProduct(1);
    const headers = { "x-run-id": "long-gone" };
    const call = { what: "", path: `/api/products/${id}/reduce-stock`, body: '{"userId":"late"}', headers };
    const node = await byNode(call);
    assert.equal(node.status, 409);
    assert.equal((node.body as { error: { code: string } }).error.code, "run_closed");
    assert.deepEqual(await byNext(call), node);
    assert.deepEqual(await productFacts(id), { stock: 1, orders: 0 });
  });
});
