// @alone: it waits for timers, and other files need not wait for it.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, it } from "node:test";
import { type ForwardedRequest, Forwarder, type ForwarderOptions, type StoreAddress } from "./forwarder";

const PATH = "/api/products/7/reduce-stock";
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface FakeNode extends StoreAddress {
  readonly requests: { readonly body: string; readonly headers: IncomingMessage["headers"] }[];
}

/** Starts a server that records the requests it receives. */
async function startNode(name: string, answer: RequestListener): Promise<FakeNode> {
  const requests: FakeNode["requests"] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    requests.push({ body, headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { name, url: `http://127.0.0.1:${port}`, requests };
}

/** A port that refuses connections, because its server has just closed. */
async function closedPort(name: string): Promise<StoreAddress> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return { name, url: `http://127.0.0.1:${port}` };
}

function forwarderTo(nodes: readonly StoreAddress[], options: Partial<ForwarderOptions> = {}): Forwarder {
  const forwarder = new Forwarder({ nodes, maxInFlight: 10, connectLimitMs: 2_000, limitMs: 10_000, ...options });
  cleanups.push(() => forwarder.close());
  return forwarder;
}

function purchase(headers: ForwardedRequest["headers"] = {}): ForwardedRequest {
  return { method: "POST", path: PATH, headers, body: '{"userId":"ada"}' };
}

const sells =
  (name: string): RequestListener =>
  (_request, response: ServerResponse) => {
    response.writeHead(201, { "content-type": "application/json", "x-store-node": name, "x-lock-strategy": "none" });
    response.end(`{"node":"${name}"}`);
  };

describe("forwarder", () => {
  it("sends to the nodes in turn and returns their answers", async () => {
    const nodes = await Promise.all(["a", "b", "c"].map((name) => startNode(name, sells(name))));
    const forwarder = forwarderTo(nodes);
    const served: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      const answer = await forwarder.send(purchase());
      assert.ok("status" in answer);
      assert.equal(answer.status, 201);
      assert.equal(answer.body, `{"node":"${answer.headers["x-store-node"]}"}`);
      assert.equal(answer.headers["x-lock-strategy"], "none");
      assert.equal(answer.headers.connection, undefined);
      served.push(answer.headers["x-store-node"] ?? "");
    }
    assert.deepEqual(served, ["a", "b", "c", "a", "b", "c"]);
  });

  it("forwards the request's headers and body", async () => {
    const node = await startNode("a", sells("a"));
    const sent = { "idempotency-key": "key-1", cookie: "shop_buyer=x", "x-request-id": "r-1" };
    await forwarderTo([node]).send(purchase({ ...sent, "x-run-id": null }));
    const [seen] = node.requests;
    assert.equal(seen?.body, '{"userId":"ada"}');
    for (const [name, value] of Object.entries(sent)) assert.equal(seen?.headers[name], value, name);
    assert.equal(seen?.headers["x-run-id"], undefined);
    assert.equal(seen?.headers.host, new URL(node.url).host);
  });

  it("tries the next node if a node refuses the connection", async () => {
    const open = await startNode("b", sells("b"));
    const forwarder = forwarderTo([await closedPort("a"), open]);
    for (let count = 0; count < 4; count += 1) assert.ok("status" in (await forwarder.send(purchase())));
    assert.equal(open.requests.length, 4);
  });

  it("tries the next node if a node is shutting down", async () => {
    const leaving = await startNode("a", (_request, response) => {
      response.writeHead(503, { "x-error-code": "shutting_down" }).end("{}");
    });
    const open = await startNode("b", sells("b"));
    const answer = await forwarderTo([leaving, open]).send(purchase());
    assert.ok("status" in answer && answer.status === 201);
  });

  it("answers backend_unavailable if every node refuses the connection", async () => {
    const answer = await forwarderTo([await closedPort("a"), await closedPort("b")]).send(purchase());
    assert.ok("reason" in answer);
    assert.equal(answer.reason, "backend_unavailable");
    assert.deepEqual(
      answer.tried.map((line) => line.split(":")[0]),
      ["a", "b"],
    );
  });

  it("sends no request twice if the connection breaks after the request was sent", async () => {
    const breaking = await startNode("a", (request) => request.socket.destroy());
    const other = await startNode("b", sells("b"));
    const answer = await forwarderTo([breaking, other]).send(purchase());
    assert.ok("reason" in answer);
    assert.equal(answer.reason, "outcome_unknown");
    assert.equal(breaking.requests.length, 1);
    assert.equal(other.requests.length, 0);
  });

  it("answers outcome_unknown if the answer is incomplete", async () => {
    const breaking = await startNode("a", (_request, response) => {
      response.writeHead(201, { "content-length": "100" });
      response.write("{");
      setImmediate(() => response.destroy());
    });
    const answer = await forwarderTo([breaking]).send(purchase());
    assert.ok("reason" in answer && answer.reason === "outcome_unknown");
  });

  it("answers outcome_unknown if a node does not respond in time", async () => {
    const silent = await startNode("a", () => undefined);
    const other = await startNode("b", sells("b"));
    const answer = await forwarderTo([silent, other], { limitMs: 1_000 }).send(purchase());
    assert.ok("reason" in answer && answer.reason === "outcome_unknown");
    assert.equal(other.requests.length, 0);
  });

  it("rejects requests above its limit, and accepts more when earlier ones have completed", async () => {
    const held: ServerResponse[] = [];
    const node = await startNode("a", (_request, response) => held.push(response));
    const forwarder = forwarderTo([node], { maxInFlight: 2 });
    const inside = [forwarder.send(purchase()), forwarder.send(purchase())];
    const over = await forwarder.send(purchase());
    assert.ok("reason" in over && over.reason === "overloaded");
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (const response of held.splice(0)) response.writeHead(409).end("{}");
    for (const answer of await Promise.all(inside)) assert.ok("status" in answer && answer.status === 409);
    const next = forwarder.send(purchase());
    while (held.length < 1) await new Promise((resolve) => setImmediate(resolve));
    held[0]?.writeHead(201).end("{}");
    assert.ok("status" in (await next));
  });
});
