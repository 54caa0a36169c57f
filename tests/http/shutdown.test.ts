import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { requireEnv } from "../support/lab-env";
import { createOwnDatabase, type OwnDatabase } from "../support/own-database";
import { type OwnNode, startOwnNode } from "../support/own-node";
import { type RawAnswer, RawClient } from "../support/raw-request";
import { waitUntil } from "../support/wait-until";

requireEnv("DATABASE_URL");

const BUYERS = 40;
const EXIT_WITHIN_MS = 20_000;

/** What a buyer received before the node rejected their request. */
interface Received {
  readonly orderIds: string[];
  last: RawAnswer | null;
  failure: string | null;
}

describe("a node that receives SIGTERM during a sale", () => {
  let database: OwnDatabase;
  let node: OwnNode;
  before(async () => {
    database = await createOwnDatabase();
    // One purchase at a time and 3 ms each, so that others wait behind the running one.
    node = await startOwnNode({
      DATABASE_URL: database.url,
      LOCK_STRATEGY: "local-mutex",
      HOLD_MS: "3",
      BUYER_RATE_PER_SECOND: "0",
      SLOW_REQUEST_MS: "60000",
    });
    await database.pool.query("INSERT INTO products (slug, name, price_cents, stock) VALUES ('s', 's', 1, 100000)");
  });
  after(async () => {
    await node?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  /** Buys over one connection until an answer is not "sold". */
  async function buyOn(client: RawClient, userId: string): Promise<Received> {
    const received: Received = { orderIds: [], last: null, failure: null };
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ userId });
    while (received.last === null && received.failure === null) {
      try {
        const answer = await client.send({ method: "POST", path: "/api/products/1/reduce-stock", headers, body });
        if (answer.status === 201)
          received.orderIds.push((JSON.parse(answer.body) as { order: { id: string } }).order.id);
        else received.last = answer;
      } catch (error) {
        received.failure = (error as Error).message;
      }
    }
    return received;
  }

  async function openIdle(count: number): Promise<Socket[]> {
    const sockets = Array.from({ length: count }, () => connect(node.port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.on("error", () => socket.destroy());
    return sockets;
  }

  const orders = async () =>
    (await database.pool.query<{ id: string }>("SELECT id::text FROM orders ORDER BY id")).rows.map(({ id }) => id);

  it("completes running purchases, answers shutting_down to the rest, loses no order and exits in time", async () => {
    const idle = await openIdle(5);
    const events = await fetch(`${node.url}/api/runs`, { headers: { connection: "keep-alive" } });
    await events.arrayBuffer();
    const clients = Array.from({ length: BUYERS }, () => new RawClient(node.port, 1));
    const sale = Promise.all(clients.map((client, index) => buyOn(client, `buyer-${index}`)));
    await waitUntil(async () => (await orders()).length > 3 * BUYERS, {
      what: "three orders per buyer",
      withinMs: 30_000,
    });
    node.signal("SIGTERM");
    const received = await sale;
    const code = await node.exited(EXIT_WITHIN_MS);
    const answered = received.filter(({ failure }) => failure === null);
    assert.ok(answered.length > 0, "expected answers to later requests, found only broken connections");
    // After the exit connections fail. The comparison of orders below proves that those requests bought nothing.
    for (const { failure } of received) assert.match(failure ?? "", /^$|ECONNREFUSED|ECONNRESET|EPIPE|socket hang up/);
    for (const { last } of answered) {
      assert.equal(last?.status, 503, last?.body);
      assert.match(last?.body ?? "", /"code":"shutting_down"/);
      assert.equal(last?.headers["retry-after"], "1");
      assert.equal(last?.headers.connection, "close");
    }
    assert.equal(code, 0, node.log().slice(-1_000));
    const acknowledged = received.flatMap(({ orderIds }) => orderIds).sort();
    assert.deepEqual(
      (await orders()).sort(),
      acknowledged,
      "expected the orders in the database to be those that buyers got",
    );
    assert.match(node.log(), /"signal":"SIGTERM".*"msg":"shutting down"/);
    assert.match(node.log(), /"cutOff":0,"msg":"shut down"/);
    for (const socket of idle) socket.destroy();
    for (const client of clients) client[Symbol.dispose]();
  });
});
