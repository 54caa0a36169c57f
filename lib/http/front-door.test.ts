import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { type RawAnswer, RawClient, type RawRequest } from "../../tests/support/raw-request";
import { FrontDoor } from "./front-door";
import { NO_VIEWS } from "./run-views";

// @alone: it sets the environment before anything reads it.
Object.assign(process.env, {
  DATABASE_URL: "postgresql://lab@127.0.0.1:9/none",
  LAB_HOSTS: "lab.example",
  STORE_NODES: "node-7=http://node-7:3000",
  LOG_LEVEL: "silent",
});

const PURCHASE = "/api/products/1/reduce-stock";

const codeOf = ({ body }: RawAnswer) => (JSON.parse(body) as { error: { code: string } }).error.code;

describe("the front door", () => {
  /** The last request that reached Next. */
  let seen: { url: string | undefined; headers: Record<string, unknown> } | null = null;
  let release: (() => void) | null = null;
  const door = new FrontDoor({
    isDevelopment: false,
    views: NO_VIEWS,
    next: async (request, response) => {
      const { url, headers } = request;
      seen = { url, headers: { ...headers } };
      if (request.url === "/slow") await new Promise<void>((resolve) => (release = resolve));
      response.end("page");
    },
  });
  const server = createServer({ requireHostHeader: false, keepAliveTimeout: 60_000 }, (request, response) =>
    door.handle(request, response),
  );
  let client: RawClient;
  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    client = new RawClient((server.address() as AddressInfo).port, 8);
  });
  after(() => {
    client[Symbol.dispose]();
    server.close();
  });

  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = (path: string, headers: Record<string, string> = {}) => client.send({ method: "GET", path, headers });

  for (const host of ["localhost", "LOCALHOST:3000", "a.localhost:1", "127.0.0.1:3000", "[::1]:3000", "192.168.7.7"]) {
    it(`accepts the host ${host}, which no other site can resolve to this machine`, async () => {
      assert.equal((await get("/", { host })).status, 200);
    });
  }

  it("accepts the hosts of LAB_HOSTS and the names of the store nodes", async () => {
    for (const host of ["lab.example", "Lab.Example:443", "node-7:3000", "node-1"]) {
      assert.equal((await get("/", { host })).status, 200, host);
    }
  });

  const strangers = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:3000",
    "lab.example.evil",
    "a b",
    "@",
    "[x]",
  ];
  for (const host of strangers) {
    it(`rejects the host "${host}" with 421 on every route, and names it`, async () => {
      for (const path of ["/", "/api/strategy", "/healthz", "/api/node/strategy", "/api/products/1/reduce-stock"]) {
        const answer = await get(path, { host });
        assert.equal(answer.status, 421, path);
        assert.equal(codeOf(answer), "host_not_allowed");
        assert.ok(answer.body.includes(host.replaceAll(" ", "?").replaceAll('"', "")), answer.body);
      }
    });
  }

  it("sends every page a policy with a new nonce, and passes the same policy to Next", async () => {
    const policies = [await get("/runs"), await get("/runs")].map(({ headers }) => headers["content-security-policy"]);
    assert.notEqual(policies[0], policies[1]);
    assert.equal(seen?.headers["content-security-policy"], policies[1]);
    const scripts = /script-src ([^;]*)/.exec(String(policies[0]))?.[1] ?? "";
    assert.match(scripts, /'nonce-[A-Za-z0-9+/=]{24}' 'strict-dynamic'$/);
    assert.doesNotMatch(scripts, /unsafe/);
    assert.match(String(policies[0]), /frame-ancestors 'none'/);
  });

  it("ignores a nonce that the client sends", async () => {
    await get("/runs", { "content-security-policy": "script-src 'nonce-mine'" });
    assert.doesNotMatch(String(seen?.headers["content-security-policy"]), /mine/);
  });

  it("answers an unknown API path with 404 in the API's error shape, without Next", async () => {
    seen = null;
    const answer = await get("/api/nothing");
    assert.equal(answer.status, 404);
    assert.equal(codeOf(answer), "not_found");
    assert.equal(answer.headers["x-error-code"], "not_found");
    assert.equal(seen, null);
  });

  it("passes a valid request id on and back, and replaces an invalid one", async () => {
    const own = await get("/", { "x-request-id": "trace-1.a_B" });
    assert.equal(own.headers["x-request-id"], "trace-1.a_B");
    assert.equal(seen?.headers["x-request-id"], "trace-1.a_B");
    for (const odd of ["", "a b", '"}{', "x".repeat(65), "-a"]) {
      const id = String((await get("/", { "x-request-id": odd })).headers["x-request-id"]);
      assert.match(id, /^[0-9a-f-]{36}$/, `for "${odd}"`);
    }
  });

  const notPaths = [
    "//evil.example",
    "http://evil.example/",
    "/a/../b",
    "/%2e%2e/etc",
    "/a%00b",
    "/%zz",
    "/a%5cb",
    `/${"a".repeat(3_000)}`,
  ];
  for (const path of notPaths) {
    it(`rejects ${path.slice(0, 30)} with 400 before it reaches Next`, async () => {
      seen = null;
      const answer = await get(path);
      assert.equal(answer.status, 400);
      assert.equal(codeOf(answer), "invalid_request");
      assert.equal(seen, null);
    });
  }

  it("rejects a method that the path does not support with 405 and the supported methods", async () => {
    const cases: [RawRequest, string][] = [
      [{ method: "POST", path: "/" }, "GET, HEAD"],
      [{ method: "DELETE", path: "/api/runs" }, "GET, POST, HEAD"],
      [{ method: "PUT", path: "/metrics" }, "GET, HEAD"],
    ];
    for (const [request, allow] of cases) {
      const answer = await client.send(request);
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.allow, allow);
      assert.equal(codeOf(answer), "method_not_allowed");
    }
    assert.equal((await client.send({ method: "OPTIONS", path: "/api/runs" })).status, 204);
  });

  it("rejects a body that is too long", async () => {
    seen = null;
    const answer = await client.send({ method: "POST", path: "/api/runs", body: "x".repeat(70_000) });
    assert.equal(answer.status, 413);
    assert.equal(seen, null);
  });

  it("compresses a large answer if the client accepts gzip, and only then", async () => {
    const path = "/api/openapi.json";
    const plain = await get(path);
    assert.equal(plain.headers["content-encoding"], undefined);
    const response = await fetch(`${url()}${path}`, { headers: { "accept-encoding": "gzip" } });
    assert.equal(response.headers.get("content-encoding"), "gzip");
    assert.equal(response.headers.get("vary"), "accept-encoding");
    assert.equal(await response.text(), plain.body);
    assert.ok(Number(response.headers.get("content-length")) < plain.body.length / 4);
    const small = await fetch(`${url()}/healthz`, { headers: { "accept-encoding": "gzip" } });
    assert.equal(small.headers.get("content-encoding"), null);
    await small.text();
  });

  it("answers HEAD as GET without a body", async () => {
    const [plain, head] = [await get("/healthz"), await client.send({ method: "HEAD", path: "/healthz" })];
    assert.equal(head.status, 200);
    assert.equal(head.headers["content-length"], plain.headers["content-length"]);
    assert.equal(head.body, "");
  });

  it("reads a body that is too long to its end, so that the client gets the 413", async () => {
    const body = JSON.stringify({ userId: "a".repeat(300_000) });
    const headers = { "content-type": "application/json" };
    const answer = await client.send({ method: "POST", path: PURCHASE, headers, body });
    assert.equal(answer.status, 413);
    assert.equal(answer.headers["x-error-code"], "body_too_large");
  });

  it("answers 413 to a body of more than 8 MiB without reading it", async () => {
    const head = `POST ${PURCHASE} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${9 * 1_024 * 1_024}\r\n\r\n`;
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write(head);
    const [answer] = await once(socket, "data");
    assert.match(String(answer), /^HTTP\/1.1 413 /);
    socket.destroy();
  });

  it("ends a request whose client closes the connection before the end of the body", async () => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write(`POST ${PURCHASE} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{`);
    while (door.inFlight === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    while (door.inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it("completes running requests when it closes, and rejects later ones", async () => {
    const slow = get("/slow");
    while (release === null) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(door.inFlight, 1);
    door.close();
    const late = await get("/runs");
    assert.equal(late.status, 503);
    assert.equal(codeOf(late), "shutting_down");
    assert.equal(late.headers["retry-after"], "1");
    assert.equal(late.headers.connection, "close");
    assert.equal((await get("/healthz")).status, 200);
    release?.();
    const answer = await slow;
    assert.equal(answer.body, "page");
    assert.equal(answer.headers.connection, "close");
    assert.equal(door.inFlight, 0);
  });
});
