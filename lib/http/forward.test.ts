// @alone: it sets the environment of this process.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, it } from "node:test";
import type { HotRequest, HotResponse } from "./hot-path";

/** The dashboard's side of the hot routes. It needs no server: a dashboard touches nothing but the store nodes. */

const PURCHASE: HotRequest = {
  method: "POST",
  kind: "product",
  idText: "7",
  contentType: "application/json",
  runId: null,
  runKey: null,
  idempotencyKey: "key-1",
  cookie: null,
  body: '{"userId":"ada"}',
};

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("a dashboard whose store nodes are away", () => {
  let handle: (request: HotRequest) => Promise<HotResponse>;

  before(async () => {
    Object.assign(process.env, {
      DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none",
      STORE_NODE: "dashboard",
      STORE_NODES: `node-1=http://127.0.0.1:${await closedPort()},node-2=http://127.0.0.1:${await closedPort()}`,
    });
    ({ handleHotRequest: handle } = await import("./hot-path"));
  });

  it("says that no node takes purchases, which were tried, and when to come back", async () => {
    const { status, headers, body } = await handle(PURCHASE);
    const { error } = JSON.parse(body) as { error: { code: string; details: { tried: string[] } } };
    assert.deepEqual([status, error.code, headers["retry-after"]], [503, "backend_unavailable", "1"]);
    assert.deepEqual(error.details.tried.map((line) => line.split(":")[0]).sort(), ["node-1", "node-2"]);
    assert.equal(headers["x-store-node"], "dashboard");
    assert.ok(headers["x-lock-strategy"]);
  });

  it("refuses itself what no node would take", async () => {
    for (const [change, status] of [
      [{ body: '{"userId":7}' }, 400],
      [{ body: null }, 413],
      [{ method: "GET" }, 405],
      [{ contentType: "text/plain" }, 415],
      [{ idText: "0" }, 400],
      [{ idempotencyKey: "two words" }, 400],
    ] as const) {
      assert.equal((await handle({ ...PURCHASE, ...change })).status, status, JSON.stringify(change));
    }
  });
});
