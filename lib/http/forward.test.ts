// @alone: it sets the environment of this process.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, it } from "node:test";
import type { WholeAnswer } from "./answer";
import type { RawRequest } from "./raw-request";

/** The dashboard's side of the hot routes. It needs no server, because a dashboard calls nothing but the store nodes. */

interface Purchase {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: too long. */
  readonly body?: string | null;
}

function rawRequest({ method = "POST", url, headers, body = '{"userId":"ada"}' }: Purchase): RawRequest {
  return {
    method,
    address: "127.0.0.1",
    url: url ?? "/api/products/7/reduce-stock",
    headers: { "content-type": "application/json", "idempotency-key": "key-1", ...headers },
    readBody: async () => body,
    closeSignal: () => new AbortController().signal,
  };
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("a dashboard whose store nodes do not accept connections", () => {
  let send: (purchase: Purchase) => Promise<WholeAnswer>;

  before(async () => {
    Object.assign(process.env, {
      DATABASE_URL: "postgresql://lab@127.0.0.1:1/none",
      STORE_NODE: "dashboard",
      STORE_NODES: `node-1=http://127.0.0.1:${await closedPort()},node-2=http://127.0.0.1:${await closedPort()}`,
    });
    const [{ dispatch }, { matchRoute }, { NO_VIEWS }] = await Promise.all([
      import("./dispatch"),
      import("./route-matcher"),
      import("./run-views"),
    ]);
    send = async (purchase) => {
      const raw = rawRequest(purchase);
      return (await dispatch(raw, matchRoute(raw.url), NO_VIEWS)) as WholeAnswer;
    };
  });

  it("answers backend_unavailable with the nodes it tried and a Retry-After", async () => {
    const { status, headers, body, code } = await send({});
    const { error } = JSON.parse(body) as { error: { code: string; details: { tried: string[] } } };
    assert.deepEqual([status, code, error.code], [503, "backend_unavailable", "backend_unavailable"]);
    assert.equal(headers["retry-after"], "1");
    assert.deepEqual(error.details.tried.map((line) => line.split(":")[0]).sort(), ["node-1", "node-2"]);
    assert.equal(headers["x-store-node"], "dashboard");
    assert.ok(headers["x-lock-strategy"]);
  });

  it("rejects an invalid request without sending it to a node", async () => {
    const cases: readonly (readonly [Purchase, number])[] = [
      [{ body: '{"userId":7}' }, 400],
      [{ body: null }, 413],
      [{ method: "GET" }, 405],
      [{ headers: { "content-type": "text/plain" } }, 415],
      [{ url: "/api/products/0/reduce-stock" }, 400],
      [{ headers: { "idempotency-key": "two words" } }, 400],
    ];
    for (const [purchase, status] of cases) {
      assert.equal((await send(purchase)).status, status, JSON.stringify(purchase));
    }
  });
});
