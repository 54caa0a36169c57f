import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { OpenApiDocument } from "../../lib/http/openapi";
import type { RunDocument } from "../../lib/runs/document";
import { Contract } from "../support/contract";
import { requireEnv } from "../support/lab-env";
import { createOwnDatabase, type OwnDatabase } from "../support/own-database";
import { type OwnNode, startOwnNode } from "../support/own-node";
import { type RawAnswer, RawClient } from "../support/raw-request";
import { waitUntil } from "../support/wait-until";

requireEnv("DATABASE_URL", "REDIS_URL");
const ADMIN_TOKEN = "the admin token of the lab under test";
const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

interface Call {
  readonly method: string;
  /** As the document has it. */
  readonly path: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

describe("the OpenAPI document", () => {
  let database: OwnDatabase;
  let node: OwnNode;
  let client: RawClient;
  let contract: Contract;
  /** Routes that have answered successfully, as `method path`. */
  const succeeded = new Set<string>();

  before(async () => {
    database = await createOwnDatabase();
    node = await startOwnNode({
      DATABASE_URL: database.url,
      LAB_ADMIN_TOKEN: ADMIN_TOKEN,
      LOCK_STRATEGY: "sql-guarded",
      // So slow that no bucket refills during a test, however slow the machine is.
      BUYER_RATE_PER_SECOND: "0.01",
    });
    client = new RawClient(node.port, 8);
    contract = new Contract((await (await fetch(`${node.url}/api/openapi.json`)).json()) as OpenApiDocument);
  });

  after(async () => {
    client?.[Symbol.dispose]();
    await node?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  /** Sends a call and checks its answer against the document. */
  async function call({ method, path, params = {}, query = "", headers = {}, body }: Call): Promise<RawAnswer> {
    const filled = path.replace(/\{([a-zA-Z]+)\}/g, (_, name: string) => params[name] ?? "1");
    const json: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await client.send({ method, path: `${filled}${query}`, headers: { ...json, ...headers }, ...sent });
    const route = { method: method.toLowerCase(), path };
    assert.equal(contract.problemOf(route, answer), null, `${method} ${filled}`);
    if (answer.status < 300) succeeded.add(`${route.method} ${path}`);
    return answer;
  }

  const json = <T>({ body }: RawAnswer) => JSON.parse(body) as T;
  const codeOf = (answer: RawAnswer) => json<{ error?: { code: string } }>(answer).error?.code;

  it("describes the answers of purchases and claims", async () => {
    const { rows } = await database.pool.query<{ id: number }>(
      "INSERT INTO products (slug, name, price_cents, stock) VALUES ('one', 'one', 100, 1) RETURNING id",
    );
    const params = { id: String(rows[0]?.id) };
    const product = { method: "POST", path: "/api/products/{id}/reduce-stock", params };
    assert.equal((await call({ ...product, body: { userId: "a" } })).status, 201);
    assert.equal(codeOf(await call({ ...product, body: { userId: "a" } })), "sold_out");
    assert.equal(codeOf(await call({ ...product, body: { userId: 7 } })), "invalid_request");
    const strayRun = { "x-run-id": "no-run" };
    assert.equal(codeOf(await call({ ...product, headers: strayRun, body: { userId: "b" } })), "run_closed");
    await database.pool.query("INSERT INTO coupons (code, name, discount_percent, stock) VALUES ('ONE', 'one', 5, 9)");
    const coupon = { method: "POST", path: "/api/coupons/{id}/claim", body: { userId: "a" } };
    assert.equal((await call(coupon)).status, 201);
    assert.equal(codeOf(await call(coupon)), "already_claimed");
    const hasty = Array.from({ length: 30 }, () => call({ ...coupon, body: { userId: "hasty" } }));
    assert.ok((await Promise.all(hasty)).some((answer) => codeOf(answer) === "rate_limited"));
    await call({ method: "GET", path: "/api/products" });
    await call({ method: "GET", path: "/api/products/{id}", params });
    await call({ method: "GET", path: "/api/coupons" });
    await call({ method: "GET", path: "/api/coupons/{id}" });
  });

  it("describes what requests get that no route sees, and where a page with a slash at the end is", async () => {
    const products = { method: "GET", path: "/api/products" };
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`h${index}`, "1"]));
    const foreign = { ...many, origin: "http://evil.example" };
    assert.equal(codeOf(await call({ ...products, headers: foreign })), "headers_too_large");
    const long = { filler: "x".repeat(10_000) };
    assert.equal(codeOf(await call({ ...products, headers: long })), "headers_too_large");
    assert.equal(codeOf(await call({ ...products, headers: { expect: "miracles" } })), "expectation_failed");
    for (const path of ["/api", "/api/"]) {
      assert.equal(codeOf(await client.send({ method: "GET", path })), "not_found", path);
    }
    const page = await client.send({ method: "GET", path: "/runs/" });
    assert.deepEqual([page.status, page.headers.location], [308, "/runs"]);
    const { responses } = contract.document.components as { responses: { PageRedirect: { description: string } } };
    assert.match(responses.PageRedirect.description, /^308:/);
  });

  it("describes the answers of a visitor's routes, from the cookie to the payment", async () => {
    const { rows } = await database.pool.query<{ id: number }>(
      `INSERT INTO products (slug, name, price_cents, stock, requires_purchase_token)
       VALUES ('two', 'two', 100, 9, false), ('by-token', 'by token', 100, 9, true) RETURNING id`,
    );
    const [plain, byToken] = rows.map(({ id }) => String(id));
    const visitor = await call({ method: "GET", path: "/api/buyer" });
    const { buyerId } = json<{ buyerId: string }>(visitor);
    const headers = { cookie: String(visitor.headers["set-cookie"]).split(";")[0] ?? "" };
    const buy = (id: string | undefined, body: object, more: Record<string, string> = {}) =>
      call({
        method: "POST",
        path: "/api/products/{id}/reduce-stock",
        params: { id: id ?? "" },
        headers: { ...headers, ...more },
        body: { userId: buyerId, ...body },
      });
    const orderOf = (answer: RawAnswer) => json<{ order: { id: string } }>(answer).order.id;
    const key = { "idempotency-key": "once" };
    const [first, again] = [await buy(plain, {}, key), await buy(plain, {}, key)];
    assert.equal(orderOf(again), orderOf(first));
    assert.equal(codeOf(await buy(plain, { quantity: 2 }, key)), "idempotency_mismatch");
    assert.equal(codeOf(await buy(byToken, {})), "purchase_token_missing");
    const issue = { method: "POST", path: "/api/purchase-tokens", headers, body: { productId: Number(byToken) } };
    assert.equal((await call(issue)).status, 201);
    const token = await call(issue);
    assert.equal(token.status, 200);
    const { purchaseToken } = json<{ purchaseToken: string }>(token);
    const second = await buy(byToken, { purchaseToken });
    assert.equal(codeOf(await buy(byToken, { purchaseToken })), "purchase_token_used");
    const act = (path: string, id: string, body: object) =>
      call({ method: "POST", path: `/api/orders/{id}/${path}`, params: { id }, headers, body });
    await call({ method: "GET", path: "/api/orders/{id}", params: { id: orderOf(first) }, headers });
    assert.equal(codeOf(await act("pay", orderOf(first), { outcome: "fail" })), "payment_failed");
    assert.equal((await act("pay", orderOf(first), { outcome: "succeed" })).status, 200);
    assert.equal((await act("cancel", orderOf(second), {})).status, 200);
    assert.equal(codeOf(await act("pay", orderOf(second), { outcome: "succeed" })), "order_not_pending");
    const hasty = await Promise.all(Array.from({ length: 30 }, () => act("cancel", orderOf(second), {})));
    assert.deepEqual(new Set(hasty.map(codeOf)), new Set(["order_not_pending", "rate_limited"]));
    await call({ method: "GET", path: "/api/orders", headers });
    assert.equal(codeOf(await call({ method: "GET", path: "/api/orders" })), "buyer_required");
  });

  it("describes the answers of an operator's routes", async () => {
    const target = { kind: "product", id: 1 };
    await call({ method: "GET", path: "/api/stock/drift", query: "?kind=product&id=1" });
    await call({ method: "POST", path: "/api/stock/reconcile", headers: admin, body: { target } });
    const lock = { method: "POST", path: "/api/locks/break", headers: admin };
    await call({ ...lock, body: { strategy: "redis-setnx", target } });
    assert.equal(codeOf(await call({ ...lock, body: { strategy: "redis-lock", target } })), "lock_expires_by_itself");
    for (const kind of ["products", "coupons"]) {
      await call({ method: "PUT", path: `/api/${kind}/{id}/opening`, headers: admin, body: { opensInMs: 60_000 } });
    }
  });

  it("describes the answers of the lab's routes and of the probes", async () => {
    for (const path of ["/api/strategies", "/api/strategy", "/healthz", "/readyz", "/metrics", "/api/openapi.json"]) {
      assert.equal((await call({ method: "GET", path })).status, 200, path);
    }
    const strategy = { method: "PUT", path: "/api/strategy", headers: admin };
    assert.equal((await call({ ...strategy, body: { id: "sql-guarded" } })).status, 200);
    assert.equal(codeOf(await call({ ...strategy, body: { id: "nothing" } })), "unknown_strategy");
    assert.equal(codeOf(await call({ ...strategy, headers: {}, body: { id: "none" } })), "admin_token_required");
    const session = { method: "POST", path: "/api/session" };
    assert.equal(codeOf(await call({ ...session, body: { token: "wrong" } })), "admin_token_wrong");
    const loggedIn = await call({ ...session, body: { token: ADMIN_TOKEN } });
    const cookie = String(loggedIn.headers["set-cookie"]).split(";")[0] ?? "";
    const bySession = { ...strategy, headers: { cookie }, body: { id: "sql-guarded" } };
    assert.equal((await call(bySession)).status, 200);
    assert.equal((await call({ ...session, method: "DELETE", headers: { cookie } })).status, 200);
    assert.equal(codeOf(await call(bySession)), "admin_token_required");
  });

  it("describes the answers of a run, from its start to its findings", async () => {
    const request = { strategy: "none", stock: 5, vus: 20, holdMs: 1, engine: "builtin", launch: true };
    const opened = await call({ method: "POST", path: "/api/runs", headers: admin, body: request });
    assert.match(String(opened.headers["x-run-key"]), /^[0-9a-f]{32}$/);
    const { id } = json<{ id: string }>(opened);
    const withFault = {
      method: "POST",
      path: "/api/runs",
      headers: admin,
      body: { ...request, faults: [{ id: "pause-holder" }] },
    };
    assert.equal(codeOf(await call(withFault)), "fault_not_applicable");
    const unknown = { ...withFault, body: { ...request, faults: [{ id: "no-such-fault" }] } };
    assert.equal(codeOf(await call(unknown)), "invalid_request");
    assert.equal(
      codeOf(await call({ method: "POST", path: "/api/runs", headers: admin, body: request })),
      "run_active",
    );
    const params = { id };
    for (const action of ["stats", "drift", "history"]) {
      await call({ method: "GET", path: `/api/node/runs/{id}/${action}`, params, headers: admin });
    }
    const hasEnded = async () =>
      json<{ status: string }>(await call({ method: "GET", path: "/api/runs/{id}", params })).status !== "running";
    await waitUntil(hasEnded, { what: "the run to finish", withinMs: 60_000 });
    for (const path of ["events", "history", "samples", "findings", "timeline", "series", "evidence"]) {
      await call({ method: "GET", path: `/api/runs/{id}/${path}`, params });
    }
    for (const format of ["json", "csv", "hgrm", "html"]) {
      await call({ method: "GET", path: "/api/runs/{id}/export", params, query: `?format=${format}` });
    }
    const list = await call({ method: "GET", path: "/api/runs/{id}/findings", params });
    const { findings } = json<{ findings: { name: string }[] }>(list);
    const name = findings[0]?.name;
    assert.ok(name !== undefined, "expected findings after twenty purchases without a lock, found none");
    await call({ method: "GET", path: "/api/runs/{id}/findings/{name}", params: { id, name } });
    await call({ method: "POST", path: "/api/runs/{id}/finish", params, headers: admin, body: {} });
    const renamed = await call({
      method: "PATCH",
      path: "/api/runs/{id}",
      params,
      headers: admin,
      body: { name: "first" },
    });
    assert.equal(json<{ name: string }>(renamed).name, "first");
    const filtered = await call({
      method: "GET",
      path: "/api/runs",
      query: "?strategy=none&verdict=unsafe&page=1&limit=1",
    });
    assert.deepEqual(
      json<{ runs: { id: string }[] }>(filtered).runs.map((run) => run.id),
      [id],
    );
    for (const path of ["/api/runs", "/api/runs/latest", "/api/sweeps"]) await call({ method: "GET", path });
    assert.equal(codeOf(await call({ method: "GET", path: "/api/runs", query: "?limit=0" })), "invalid_request");
    assert.equal(codeOf(await call({ method: "GET", path: "/api/sweeps/{id}", params: { id: "none" } })), "not_found");
    assert.equal(codeOf(await call({ method: "DELETE", path: "/api/runs/{id}", params })), "admin_token_required");
    await call({ method: "DELETE", path: "/api/runs/{id}", params, headers: admin });
    assert.equal(codeOf(await call({ method: "GET", path: "/api/runs/{id}", params })), "not_found");
  });

  it("injects a fault into a run, and stops the run and its load generator long before the load is complete", async () => {
    const request = {
      strategy: "sql-guarded",
      stock: 1_000,
      rate: 20,
      durationMs: 300_000,
      engine: "builtin",
      launch: true,
    };
    const { id } = json<{ id: string }>(
      await call({ method: "POST", path: "/api/runs", headers: admin, body: request }),
    );
    const params = { id };
    const hasSold = async () =>
      json<{ samples: { orders: number }[] }>(
        await call({ method: "GET", path: "/api/runs/{id}/samples", params }),
      ).samples.some(({ orders }) => orders > 0);
    await waitUntil(hasSold, { what: "the first order", withinMs: 60_000 });
    const arm = { method: "POST", path: "/api/runs/{id}/faults", params, headers: admin };
    const armed = json<RunDocument>(await call({ ...arm, body: { id: "slicer", durationMs: 500 } }));
    assert.deepEqual(
      armed.config.faults?.map(({ id: fault }) => fault),
      ["slicer"],
    );
    const pooled = await call({ ...arm, body: { id: "pgbouncer-transaction" } });
    assert.equal(codeOf(pooled), "fault_not_applicable");
    assert.equal(codeOf(await call({ ...arm, body: { id: "slicer", node: "node-9" } })), "invalid_fault");
    assert.equal(codeOf(await call({ ...arm, body: { id: "pause-holder" } })), "fault_not_applicable");
    assert.equal(codeOf(await call({ ...arm, headers: {}, body: { id: "slicer" } })), "admin_token_required");
    const stop = { method: "POST", path: "/api/runs/{id}/stop", params, headers: admin };
    const stopped = json<{ status: string; verdict: string }>(await call(stop));
    assert.deepEqual([stopped.status, stopped.verdict], ["stopped", "inconclusive"]);
    const generatorLog = join(".lab", "logs", `run-${id}.log`);
    const hasEnded = async () => /stopped before it was complete/.test(await readFile(generatorLog, "utf8"));
    await waitUntil(hasEnded, { what: "the load generator to end", withinMs: 30_000 });
    assert.equal(codeOf(await call({ ...stop, params: { id: "no-run" } })), "run_not_found");
    assert.equal(codeOf(await call({ ...arm, body: { id: "slicer" } })), "run_not_running");
  });

  it("describes the answers of a sweep", async () => {
    const sweep = { id: "contract", repeat: 1, repeats: 1, strategies: ["sql-guarded"] };
    const request = { strategy: "sql-guarded", stock: 1, vus: 1, engine: "external", sweep };
    const { id } = json<{ id: string }>(
      await call({ method: "POST", path: "/api/runs", headers: admin, body: request }),
    );
    await call({ method: "POST", path: "/api/runs/{id}/finish", params: { id }, headers: admin, body: {} });
    await call({ method: "GET", path: "/api/sweeps/{id}", params: { id: "contract" } });
  });

  it("makes a sweep itself, cancels it with its current run, and resumes it", async () => {
    const run = { stock: 100, rate: 20, durationMs: 60_000, engine: "builtin" };
    const body = { strategies: ["none", "sql-guarded"], repeats: 1, run };
    const start = { method: "POST", path: "/api/sweeps", headers: admin, body };
    type Sweep = { id: string; total: number; active: object | null; cells: { run: { status: string } | null }[] };
    const { id, total, active } = json<Sweep>(await call(start));
    assert.deepEqual([total, active], [2, { remainingMs: null, problems: [] }]);
    assert.equal(codeOf(await call(start)), "sweep_active");
    assert.equal(codeOf(await call({ ...start, body: { ...body, strategies: ["nothing"] } })), "unknown_strategy");
    const params = { id };
    const now = async () => json<Sweep>(await call({ method: "GET", path: "/api/sweeps/{id}", params }));
    const isRunning = async () => (await now()).cells[0]?.run?.status === "running";
    const cancel = { method: "POST", path: "/api/sweeps/{id}/cancel", params, headers: admin };
    for (const resume of [false, true]) {
      if (resume) await call({ method: "POST", path: "/api/sweeps/{id}/resume", params, headers: admin });
      await waitUntil(isRunning, { what: "the first run of the sweep", withinMs: 60_000 });
      await call(cancel);
      await waitUntil(async () => (await now()).active === null, { what: "the end of the sweep", withinMs: 60_000 });
      const { cells } = await now();
      assert.deepEqual([cells[0]?.run?.status, cells[1]?.run], ["stopped", null]);
    }
    assert.equal(codeOf(await call(cancel)), "not_found");
  });

  it("describes the answers of a node's control routes", async () => {
    await call({ method: "GET", path: "/api/node/strategy", headers: admin });
    await call({ method: "PUT", path: "/api/node/strategy", headers: admin, body: { id: "sql-guarded" } });
    const target = { kind: "product", id: 1 };
    const how = { strategy: "sql-guarded", target };
    const run = { method: "PUT", path: "/api/node/runs/{id}", params: { id: "by-hand" }, headers: admin };
    const assignment = { ...how, runId: "by-hand", holdMs: 0, ttlMs: 1_000, waitTimeoutMs: 100 };
    await call({ ...run, body: assignment });
    await call({ ...run, method: "POST", path: "/api/node/runs/{id}/prepare", body: { ...how, stock: 1 } });
    await call({ ...run, method: "POST", path: "/api/node/runs/{id}/open" });
    const proxyPorts = { "another-node": { postgres: [26_000] } };
    await call({ ...run, path: "/api/node/runs/{id}/routes", body: { proxyPorts } });
    const stops = { ...run, path: "/api/node/runs/{id}/stops" };
    const pause = { point: "before-write", atMs: 0, durationMs: 100 };
    await call({ ...stops, body: pause });
    await call({ ...stops, method: "GET" });
    const { outcomes } = json<{ outcomes: object[] }>(await call({ ...stops, method: "DELETE" }));
    assert.deepEqual(outcomes, [{ status: "disarmed" }]);
    await call({ ...run, method: "POST", path: "/api/node/runs/{id}/close" });
    assert.equal(json(await call({ ...run, method: "POST", path: "/api/node/runs/{id}/settle" })), null);
    await call({ ...run, method: "DELETE", path: "/api/node/runs/{id}/prepare" });
    assert.equal(codeOf(await call({ ...stops, body: pause })), "not_found");
    const other = await call({ ...run, params: { id: "another" }, body: assignment });
    assert.equal(codeOf(other), "invalid_request");
  });

  it("has no route without a successful answer in the tests above", () => {
    const all = contract.operations.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(
      all.filter((route) => !succeeded.has(route)),
      [],
    );
  });

  it("requires the admin token on every route that changes the lab, and rejects other sites there", async () => {
    const guarded = contract.operations.filter(({ operation }) => operation.security !== undefined);
    assert.ok(guarded.length >= 15, `${guarded.length} routes`);
    for (const { method, path } of guarded) {
      const bare = { method: method.toUpperCase(), path, ...(method === "get" ? {} : { body: {} }) };
      assert.equal(codeOf(await call(bare)), "admin_token_required", path);
      const wrong = { authorization: "Bearer not the token" };
      // After ten wrong tokens from one address the next are not even compared.
      const rejected = codeOf(await call({ ...bare, headers: wrong })) ?? "none";
      assert.ok(["admin_token_required", "rate_limited"].includes(rejected), `${path}: ${rejected}`);
      const others: Record<string, string>[] = [
        { origin: "http://evil.example" },
        { "sec-fetch-site": "cross-site" },
        { origin: "null" },
      ];
      for (const foreign of others) {
        const headers = { ...admin, ...foreign };
        assert.equal(codeOf(await call({ ...bare, headers })), "cross_site", `${path} from ${Object.values(foreign)}`);
      }
    }
  });
});
