import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, before, describe, it, type TestContext } from "node:test";
import { serveToxiproxyApi } from "../../lib/faults/proxy/http-api";
import { systemClock } from "../../lib/locks/clock";
import { systemRandom } from "../../lib/locks/random";
import { freePort } from "../support/free-port";
import { waitUntil } from "../support/wait-until";
import { buildGoProgram, type GoProgram, skipWithoutGo } from "./go-program";
import { clientProgram } from "./other-client";

/** Sends the same requests to Toxiproxy and to the lab's proxy, and compares the answers and the behaviour. */

interface Served extends AsyncDisposable {
  readonly url: string;
}

type Call = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown }>;

describe("the lab's proxy and Toxiproxy", { skip: skipWithoutGo }, () => {
  let program: GoProgram;
  before(async () => {
    program = await buildGoProgram(clientProgram("go-toxiproxy"));
  });
  after(() => program[Symbol.asyncDispose]());

  const both: readonly (() => Promise<Served>)[] = [ours, () => theirs(program)];

  it("give the same answers to the same requests of their HTTP API", async () => {
    const [lab, toxiproxy] = await Promise.all(
      both.map(async (serve) => {
        await using served = await serve();
        return await answersOf(caller(served.url));
      }),
    );
    assert.ok(toxiproxy && toxiproxy.length > 30);
    assert.deepEqual(lab, toxiproxy);
  });

  for (const [name, behaves] of Object.entries(behaviours())) {
    it(name, async (t) => {
      for (const serve of both) {
        await using served = await serve();
        await behaves(await echoThrough(t, caller(served.url)));
      }
    });
  }
});

async function ours(): Promise<Served> {
  const api = await serveToxiproxyApi({ host: "127.0.0.1", port: 0 }, { clock: systemClock, random: systemRandom });
  return { url: `http://127.0.0.1:${api.port}`, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

async function theirs({ binary }: GoProgram): Promise<Served> {
  const port = await freePort();
  const child = spawn(binary, [String(port)], { stdio: ["pipe", "ignore", "inherit"] });
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/version`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitUntil(isUp, { what: "Toxiproxy to answer" });
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, "exit");
      child.stdin?.end();
      await exited;
    },
  };
}

function caller(url: string): Call {
  return async (method, path, body) => {
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${url}${path}`, { method, ...(body === undefined ? {} : { body: sent }) });
    const text = await response.text();
    return { status: response.status, body: /^\s*[[{]/.test(text) ? JSON.parse(text) : text };
  };
}

/** Errors that name a parser's position differ in their text, so only the status counts. */
async function answersOf(call: Call): Promise<unknown[]> {
  const answers: unknown[] = [];
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body);
    answers.push({ request: `${method} ${path}`, ...answer });
    return answer;
  };
  const status = async (method: string, path: string, body?: unknown) => {
    answers.push({ request: `${method} ${path}`, status: (await call(method, path, body)).status });
  };
  const listen = `127.0.0.1:${await freePort()}`;
  const proxy = { name: "redis", listen, upstream: "127.0.0.1:1" };
  const start = answers.length;
  await ask("GET", "/version");
  await ask("GET", "/proxies");
  await ask("POST", "/proxies", proxy);
  await ask("POST", "/proxies", proxy);
  await ask("POST", "/proxies", { listen, upstream: "127.0.0.1:1" });
  await ask("POST", "/proxies", { name: "x", listen });
  await status("POST", "/proxies", "{");
  await ask("GET", "/proxies/redis");
  await ask("GET", "/proxies/unknown");
  await ask("DELETE", "/proxies/unknown");
  await ask("POST", "/proxies/unknown", { enabled: false });
  for (const [type, attributes] of Object.entries(TOXICS)) {
    await ask("POST", "/proxies/redis/toxics", { type, attributes });
    await ask("GET", `/proxies/redis/toxics/${type}_downstream`);
  }
  await ask("POST", "/proxies/redis/toxics", { type: "latency" });
  await ask("POST", "/proxies/redis/toxics", { name: "mine", type: "latency", stream: "upstream", toxicity: 0.5 });
  await ask("POST", "/proxies/redis/toxics", { name: "other", type: "unknown" });
  await ask("POST", "/proxies/redis/toxics", { name: "other", type: "latency", stream: "sideways" });
  await status("POST", "/proxies/redis/toxics", { name: "other", type: "latency", attributes: { latency: "long" } });
  await ask("POST", "/proxies/redis/toxics/mine", { attributes: { latency: 7 } });
  await ask("POST", "/proxies/redis/toxics/mine", { toxicity: 0.25, attributes: { jitter: 3 } });
  await ask("POST", "/proxies/redis/toxics/unknown", { toxicity: 1 });
  await ask("GET", "/proxies/redis/toxics");
  await ask("GET", "/proxies/redis/toxics/unknown");
  await ask("DELETE", "/proxies/redis/toxics/mine");
  await ask("DELETE", "/proxies/redis/toxics/mine");
  await ask("POST", "/proxies/redis", { enabled: false });
  await ask("GET", "/proxies");
  await ask("POST", "/reset");
  await ask("GET", "/proxies");
  await ask("DELETE", "/proxies/redis");
  const two = [proxy, { ...proxy, name: "disabled", enabled: false }];
  await ask("POST", "/populate", two);
  await status("POST", "/populate", two);
  await status("POST", "/populate", [{ name: "x", listen }]);
  await ask("GET", "/proxies");
  const text = JSON.stringify(answers.slice(start)).replaceAll(listen, "<listen>");
  // Version 2.5.0 also serializes its logger.
  return JSON.parse(text, (key, value: unknown) => (key === "Logger" ? undefined : value)) as unknown[];
}

const TOXICS = {
  latency: { latency: 10, jitter: 5 },
  bandwidth: { rate: 100 },
  slow_close: { delay: 10 },
  timeout: { timeout: 10 },
  reset_peer: { timeout: 10 },
  slicer: { average_size: 10, size_variation: 5, delay: 10 },
  limit_data: { bytes: 10 },
};

/** An echo server behind a proxy. */
interface Echo {
  dial(): Promise<Socket>;
  add(type: keyof typeof TOXICS, stream: "upstream" | "downstream", attributes: object): Promise<void>;
  call: Call;
}

async function echoThrough(t: TestContext, call: Call): Promise<Echo> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const listen = `127.0.0.1:${await freePort()}`;
  const upstream = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  assert.equal((await call("POST", "/proxies", { name: "echo", listen, upstream })).status, 201);
  return {
    call,
    dial: async () => {
      const socket = connect({ host: "127.0.0.1", port: Number(listen.split(":")[1]) });
      socket.on("error", () => {});
      t.after(() => socket.destroy());
      await once(socket, "connect");
      return socket;
    },
    add: async (type, stream, attributes) => {
      const { status } = await call("POST", "/proxies/echo/toxics", { type, stream, attributes });
      assert.equal(status, 200);
    },
  };
}

async function roundTrip(socket: Socket, text: string): Promise<number> {
  const startMs = performance.now();
  socket.write(text);
  for (let received = ""; received.length < text.length; ) {
    const [data] = (await once(socket, "data")) as [Buffer];
    received += data.toString();
  }
  return performance.now() - startMs;
}

/** How a connection ends: its bytes, and the error code if it is broken. */
async function endOf(socket: Socket): Promise<{ readonly bytes: number; readonly error: string | null }> {
  let bytes = 0;
  let error: string | null = null;
  socket.on("data", (data: Buffer) => {
    bytes += data.length;
  });
  socket.once("error", (cause: NodeJS.ErrnoException) => {
    error = cause.code ?? cause.message;
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return { bytes, error };
}

function behaviours(): Record<string, (echo: Echo) => Promise<void>> {
  return {
    "delay data by the latency, also on a connection that is open, until it is removed": async ({
      dial,
      add,
      call,
    }) => {
      const socket = await dial();
      await roundTrip(socket, "warm up");
      await add("latency", "upstream", { latency: 200 });
      const slowMs = await roundTrip(socket, "slow");
      await call("DELETE", "/proxies/echo/toxics/latency_upstream");
      const fastMs = await roundTrip(socket, "fast");
      assert.ok(slowMs >= 195 && fastMs < 195, `with latency ${slowMs} ms, without ${fastMs} ms`);
    },
    "take as long as the bandwidth says": async ({ dial, add }) => {
      await add("bandwidth", "downstream", { rate: 100 });
      const tookMs = await roundTrip(await dial(), "x".repeat(30_000));
      assert.ok(tookMs >= 250 && tookMs < 2_000, `expected about 300 ms, found ${tookMs}`);
    },
    "deliver sliced data unchanged": async ({ dial, add }) => {
      await add("slicer", "upstream", { average_size: 3, size_variation: 1, delay: 10 });
      await roundTrip(await dial(), "0123456789".repeat(20));
    },
    "close after the number of bytes of limit_data": async ({ dial, add }) => {
      await add("limit_data", "downstream", { bytes: 7 });
      const socket = await dial();
      const end = endOf(socket);
      socket.write("0123456789");
      assert.equal((await end).bytes, 7);
    },
    "swallow data under timeout and close without data": async ({ dial, add }) => {
      await add("timeout", "downstream", { timeout: 100 });
      const socket = await dial();
      const end = endOf(socket);
      socket.write("lost");
      assert.equal((await end).bytes, 0);
    },
    "close a connection when its timeout is removed": async ({ dial, add, call }) => {
      const socket = await dial();
      await roundTrip(socket, "hello");
      await add("timeout", "downstream", { timeout: 0 });
      const end = endOf(socket);
      await call("DELETE", "/proxies/echo/toxics/timeout_downstream");
      assert.equal((await end).bytes, 0);
    },
    "reset a connection that sends data under reset_peer": async ({ dial, add }) => {
      await add("reset_peer", "upstream", { timeout: 0 });
      const socket = await dial();
      const end = endOf(socket);
      socket.write("x");
      assert.deepEqual(await end, { bytes: 0, error: "ECONNRESET" });
    },
    "close connections and refuse new ones while disabled": async ({ dial, call }) => {
      const socket = await dial();
      await roundTrip(socket, "hello");
      const end = endOf(socket);
      await call("POST", "/proxies/echo", { enabled: false });
      await end;
      await assert.rejects(dial(), /ECONNREFUSED/);
      await call("POST", "/proxies/echo", { enabled: true });
      await roundTrip(await dial(), "again");
    },
  };
}
