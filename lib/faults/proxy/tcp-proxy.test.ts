import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { systemClock } from "../../locks/clock";
import { systemRandom } from "../../locks/random";
import { toxicKinds } from "./all-toxics";
import { TcpProxy } from "./tcp-proxy";
import type { Attributes, Stream } from "./toxic";

const MEGABYTE = 1024 * 1024;

/** A server and a proxy in front of it, closed after the test. */
async function proxied(t: TestContext, onConnection: (socket: Socket) => void = (socket) => socket.pipe(socket)) {
  const accepted: Socket[] = [];
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const upstream = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = new TcpProxy({ name: "p", listen: "127.0.0.1:0", upstream, clock: systemClock, random: systemRandom });
  await proxy.start();
  t.after(async () => {
    await proxy.stop();
    for (const socket of accepted) socket.destroy();
    server.close();
    await once(server, "close");
  });
  const dial = async () => {
    const socket = connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => {});
    t.after(() => socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const add = (type: string, stream: Stream, attributes: Attributes = {}) => {
    const kind = toxicKinds.get(type);
    assert.ok(kind);
    return proxy.addToxic({ name: type, kind, stream, toxicity: 1, attributes: { ...kind.defaults, ...attributes } });
  };
  return { proxy, server, accepted, dial, add };
}

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [data] = (await once(socket, "data")) as [Buffer];
  return data.toString();
}

async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The error code with which a socket ends; null if it ends without one. */
function endOf(socket: Socket): Promise<string | null> {
  socket.resume();
  return new Promise((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once("close", () => resolve(null));
    socket.once("end", () => socket.end());
  });
}

describe("a TCP proxy without toxics", () => {
  it("passes 8 MB unchanged in both directions at once", async (t) => {
    const { dial } = await proxied(t);
    const socket = await dial();
    const data = Buffer.alloc(8 * MEGABYTE, "0123456789abcdef-");
    socket.end(data);
    const echoed = await readAll(socket);
    const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    assert.equal(hash(echoed), hash(data));
  });

  it("keeps the other direction open when one side has finished sending", async (t) => {
    const { dial } = await proxied(t, (socket) => {
      socket.resume();
      socket.once("end", () => socket.end("answer after the end"));
    });
    const socket = await dial();
    socket.end("request");
    assert.equal((await readAll(socket)).toString(), "answer after the end");
  });

  it("stops reading from a sender whose receiver does not read", async (t) => {
    const { dial, accepted } = await proxied(t, (socket) => socket.pause());
    const socket = await dial();
    const data = Buffer.alloc(40 * MEGABYTE);
    socket.end(data);
    await stalled(socket);
    assert.ok(socket.writableLength > 8 * MEGABYTE, `the proxy took ${data.length - socket.writableLength} bytes`);
    const [receiver] = accepted;
    assert.ok(receiver);
    assert.equal((await readAll(receiver)).length, data.length);
  });

  it("passes a reset of one side to the other", async (t) => {
    const { dial, accepted, proxy } = await proxied(t);
    const socket = await dial();
    await ask(socket, "hello");
    const [server] = accepted;
    assert.ok(server);
    const ended = endOf(server);
    socket.resetAndDestroy();
    assert.equal(await ended, "ECONNRESET");
    assert.equal(proxy.openConnections, 0);
  });

  it("waits for a server that listens later than its client connects, if it may dial again", async (t) => {
    const server = createServer((socket) => socket.pipe(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const options = { name: "p", listen: "127.0.0.1:0", clock: systemClock, random: systemRandom };
    const proxy = new TcpProxy({ ...options, upstream: `127.0.0.1:${port}`, redialMs: 10_000 });
    await proxy.start();
    t.after(async () => {
      await proxy.stop();
      server.close();
    });
    const socket = connect(proxy.port, "127.0.0.1");
    t.after(() => socket.destroy());
    await once(socket, "connect");
    server.listen(port, "127.0.0.1");
    assert.equal(await ask(socket, "hello"), "hello");
  });

  it("closes the client if the server refuses the connection", async (t) => {
    const { dial, proxy } = await proxied(t);
    const unused = createServer().listen(0, "127.0.0.1");
    await once(unused, "listening");
    const { port } = unused.address() as AddressInfo;
    unused.close();
    await once(unused, "close");
    await proxy.stop();
    proxy.move({ listen: proxy.listen, upstream: `127.0.0.1:${port}` });
    await proxy.start();
    const socket = await dial();
    await endOf(socket);
    assert.equal(proxy.openConnections, 0);
  });
});

/** Resolves when the socket's unsent bytes have stopped to change. */
async function stalled(socket: Socket): Promise<void> {
  for (let same = 0, before = -1; same < 5; ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    same = socket.writableLength === before ? same + 1 : 0;
    before = socket.writableLength;
  }
}

describe("a TCP proxy with a toxic", () => {
  it("applies it to connections that are open already, in its direction only, until it is removed", async (t) => {
    const { dial, add, proxy } = await proxied(t);
    const socket = await dial();
    await ask(socket, "warm up");
    const plainMs = await timeOf(() => ask(socket, "plain"));
    const toxic = add("latency", "downstream", { latency: 150 });
    const slowMs = await timeOf(() => ask(socket, "slow"));
    assert.ok(slowMs > 140 && slowMs > 3 * plainMs, `expected 150 ms more than ${plainMs} ms, found ${slowMs} ms`);
    assert.deepEqual({ ...toxic.effect }, { bytes: 4, connections: 1, ended: 0 });
    proxy.removeToxic(toxic);
    assert.ok((await timeOf(() => ask(socket, "plain"))) < 140, "the delay outlived its toxic");
    assert.equal(toxic.effect.bytes, 4);
  });

  it("delivers what a removed toxic held back, once and in order", async (t) => {
    const { dial, add, proxy } = await proxied(t);
    const socket = await dial();
    await ask(socket, "warm up");
    const first = add("latency", "upstream", { latency: 60_000 });
    const second = add("slicer", "upstream", { average_size: 3 });
    const data = "0123456789".repeat(1_000);
    socket.end(data);
    await once(socket, "finish");
    proxy.removeToxic(first);
    proxy.removeToxic(second);
    assert.equal((await readAll(socket)).toString(), data);
  });

  it("resets both sides with reset_peer", async (t) => {
    const { dial, add, accepted } = await proxied(t);
    const socket = await dial();
    await ask(socket, "hello");
    const toxic = add("reset_peer", "upstream");
    const [server] = accepted;
    assert.ok(server);
    const ends = Promise.all([endOf(socket), endOf(server)]);
    socket.write("x");
    assert.deepEqual(await ends, ["ECONNRESET", "ECONNRESET"]);
    assert.deepEqual({ ...toxic.effect }, { bytes: 0, connections: 1, ended: 1 });
  });

  it("closes the connection after limit_data, and the bytes before it arrive", async (t) => {
    const { dial, add } = await proxied(t, (socket) => socket.write("0123456789"));
    add("limit_data", "downstream", { bytes: 4 });
    const socket = await dial();
    assert.equal((await readAll(socket)).toString(), "0123");
  });

  it("swallows replies with timeout and closes the connection when the toxic is removed", async (t) => {
    const { dial, add, proxy } = await proxied(t);
    const socket = await dial();
    await ask(socket, "hello");
    const toxic = add("timeout", "downstream");
    socket.write("lost reply");
    await until(() => toxic.effect.bytes === "lost reply".length);
    const ended = readAll(socket);
    proxy.removeToxic(toxic);
    assert.equal((await ended).toString(), "");
  });

  it("refuses connections while it is down, closes the open ones, and listens on the same port again", async (t) => {
    const { dial, proxy } = await proxied(t);
    const socket = await dial();
    await ask(socket, "hello");
    const { listen } = proxy;
    const ended = endOf(socket);
    assert.equal(await proxy.stop(), 1);
    await ended;
    await assert.rejects(dial(), /ECONNREFUSED/);
    await proxy.start();
    assert.equal(proxy.listen, listen);
    assert.equal(await ask(await dial(), "again"), "again");
  });

  it("leaves no connection and no timer behind when it stops", async (t) => {
    const { dial, add, proxy, accepted } = await proxied(t);
    for (const type of toxicKinds.keys()) add(type, "upstream", { delay: 60_000, timeout: 60_000, latency: 60_000 });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const socket = await dial();
    socket.write("x");
    await until(() => timers() > before);
    const ended = Promise.all([endOf(socket), ...accepted.map(endOf)]);
    await proxy.stop();
    await ended;
    assert.equal(proxy.openConnections, 0);
    assert.equal(timers(), before);
  });
});

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
