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

/** What one buyer saw before the node turned him away. */
interface Seen {
  readonly orderIds: string[];
  last: RawAnswer | null;
  failure: string | null;
}

describe("a node that gets SIGTERM in the middle of a sale", () => {
  let database: OwnDatabase;
  let node: OwnNode;
  before(async () => {
    database = await createOwnDatabase();
    // One at a time and 3 ms each, so that a queue stands behind the purchase that runs.
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

  /** Buys over one connection until there is an answer other than "sold". */
  async function buyOn(client: RawClient, userId: string): Promise<Seen> {
    const seen: Seen = { orderIds: [], last: null, failure: null };
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ userId });
    while (seen.last === null && seen.failure === null) {
      try {
        const answer = await client.send({ method: "POST", path: "/api/products/1/reduce-stock", headers, body });
        if (answer.status === 201) seen.orderIds.push((JSON.parse(answer.body) as { order: { id: string } }).order.id);
        else seen.last = answer;
      } catch (error) {
        seen.failure = (error as Error).message;
      }
    }
    return seen;
  }

  async function openIdle(count: number): Promise<Socket[]> {
    const sockets = Array.from({ length: count }, () => connect(node.port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.on("error", () => socket.destroy());
    return sockets;
  }

  const orders = async () =>
    (await database.pool.query<{ id: string }>("SELECT id::text FROM orders ORDER BY id")).rows.map(({ id }) => id);

  it("answers what it has begun, turns the rest away in words, loses no order and ends in time", async () => {
    const idle = await openIdle(5);
    const events = await fetch(`${node.url}/api/runs`, { headers: { connection: "keep-alive" } });
    await events.arrayBuffer();
    const clients = Array.from({ length: BUYERS }, () => new RawClient(node.port, 1));
    const sale = Promise.all(clients.map((client, index) => buyOn(client, `buyer-${index}`)));
    await waitUntil(async () => (await orders()).length > 3 * BUYERS, {
      what: "a sale in full swing",
      withinMs: 30_000,
    });
    node.signal("SIGTERM");
    const seen = await sale;
    const code = await node.exited(EXIT_WITHIN_MS);
    const answered = seen.filter(({ failure }) => failure === null);
    assert.ok(answered.length > 0, "nobody was turned away in words");
    // Whoever comes when the node is gone finds a closed door; that he has bought nothing is shown below.
    for (const { failure } of seen) assert.match(failure ?? "", /^$|ECONNREFUSED|ECONNRESET|EPIPE|socket hang up/);
    for (const { last } of answered) {
      assert.equal(last?.status, 503, last?.body);
      assert.match(last?.body ?? "", /"code":"shutting_down"/);
      assert.equal(last?.headers["retry-after"], "1");
      assert.equal(last?.headers.connection, "close");
    }
    assert.equal(code, 0, node.log().slice(-1_000));
    const acknowledged = seen.flatMap(({ orderIds }) => orderIds).sort();
    assert.deepEqual((await orders()).sort(), acknowledged, "orders in the database and orders that buyers know of");
    assert.match(node.log(), /"signal":"SIGTERM".*"msg":"shutting down"/);
    assert.match(node.log(), /"cutOff":0,"msg":"shut down"/);
    for (const socket of idle) socket.destroy();
    for (const client of clients) client[Symbol.dispose]();
  });
});
