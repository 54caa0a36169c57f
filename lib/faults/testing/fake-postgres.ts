import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { systemClock } from "../../locks/clock";
import { systemRandom } from "../../locks/random";
import type { Fault, Injection } from "../fault";
import { TcpProxy } from "../proxy/tcp-proxy";

const READY = { idle: "Z\0\0\0\x05I", inTransaction: "Z\0\0\0\x05T" };

/** A server that answers as PostgreSQL does, behind a proxy on which the fault acts until `end`. */
export async function fakePostgresUnder(fault: Fault, t: TestContext) {
  const executed: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    let ready = READY.idle;
    socket.on("data", (data: Buffer) => {
      const statement = data.toString("latin1");
      executed.push(statement);
      if (statement.startsWith("BEGIN")) ready = READY.inTransaction;
      if (statement.startsWith("COMMIT")) ready = READY.idle;
      const done = statement.includes("_write") ? "C\0\0\0\x0fINSERT 0 1\0" : "";
      socket.write(`reply ${done}${ready}`, "latin1");
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
  const event = fault.inject(injection as unknown as Injection);
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
export function reply(socket: Socket, statement: string): Promise<string> {
  socket.write(statement, "latin1");
  return new Promise((resolve) => {
    socket.once("data", (data: Buffer) => resolve(data.toString("latin1")));
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}
