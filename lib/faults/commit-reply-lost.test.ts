import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { systemClock } from "../locks/clock";
import { systemRandom } from "../locks/random";
import { commitReplyLost } from "./commit-reply-lost";
import type { Injection } from "./fault";
import { TcpProxy } from "./proxy/tcp-proxy";

const READY = { idle: "Z\0\0\0\x05I", inTransaction: "Z\0\0\0\x05T" };

/** A server that answers as PostgreSQL does, behind a proxy on which the fault acts until `end`. */
async function underFault(t: TestContext) {
  const executed: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    let ready = READY.idle;
    socket.on("data", (data: Buffer) => {
      const statement = data.toString("latin1");
      executed.push(statement);
      if (statement.startsWith("BEGIN")) ready = READY.inTransaction;
      if (statement.startsWith("COMMIT")) ready = READY.idle;
      socket.write(`reply ${ready}`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const upstream = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = new TcpProxy({ name: "p", listen: "127.0.0.1:0", upstream, clock: systemClock, random: systemRandom });
  await proxy.start();
  const closing = new AbortController();
  const injection = {
    proxies: [{ node: "node-1", server: "postgres", proxy }],
    durationMs: 60_000,
    untilDue: async () => {},
    closing: closing.signal,
  };
  const event = commitReplyLost.inject(injection as unknown as Injection);
  const stop = async () => {
    await proxy.stop();
    server.close();
  };
  t.after(stop);
  const end = () => {
    closing.abort();
    return event;
  };
  const open = async () => {
    const socket = connect(proxy.port, "127.0.0.1");
    t.after(() => socket.destroy());
    await once(socket, "connect");
    await reply(socket, "SELECT\0");
    return socket;
  };
  return { open, end, executed };
}

/** The reply to a statement, or the code of the error that ends the connection. */
function reply(socket: Socket, statement: string): Promise<string> {
  socket.write(statement, "latin1");
  return new Promise((resolve) => {
    socket.once("data", (data: Buffer) => resolve(data.toString("latin1")));
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

describe("commit-reply-lost", () => {
  it("loses the reply to COMMIT, not the replies inside the transaction, once per node", async (t) => {
    const { open, end, executed } = await underFault(t);
    const [first, second] = [await open(), await open()];
    assert.match(await reply(first, "BEGIN ISOLATION LEVEL READ COMMITTED\0"), /^reply/);
    assert.match(await reply(first, "B\0product_writeAbsolute\0"), /^reply/);
    assert.equal(await reply(first, "COMMIT\0"), "ECONNRESET");
    assert.ok(executed.includes("COMMIT\0"), "expected the server to have executed COMMIT");
    assert.match(await reply(second, "COMMIT\0"), /^reply/);
    const { proof } = await end();
    assert.equal(proof, "commit-reply-lost acted on 1 connection to PostgreSQL (12 bytes) of node-1.");
  });

  it("loses the reply to a write that is no part of a transaction, and not the reply to a read", async (t) => {
    const { open, end, executed } = await underFault(t);
    const socket = await open();
    assert.match(await reply(socket, "B\0product_read\0"), /^reply/);
    assert.equal(await reply(socket, "B\0product_takeGuarded\0"), "ECONNRESET");
    assert.ok(executed.includes("B\0product_takeGuarded\0"));
    assert.match((await end()).proof, /1 connection to PostgreSQL/);
  });

  it("is missed if no purchase was committed", async (t) => {
    const { open, end } = await underFault(t);
    await open();
    await assert.rejects(end(), /^FaultMissed: no purchase was committed while it lasted/);
  });
});
