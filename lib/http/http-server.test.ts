import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import type { RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { createHttpServer } from "./http-server";

const limits = { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 };

describe("the HTTP server", () => {
  const handle: RequestListener = ({ headers }, response) => response.end(`served to ${headers.origin}`);
  const server = createHttpServer(handle);
  /** Its limits are too short for a request on a busy machine. */
  const impatient = createHttpServer(handle, limits);
  before(async () => {
    for (const each of [server, impatient]) {
      each.listen(0, "127.0.0.1");
      await once(each, "listening");
    }
  });
  after(() => [server, impatient].map((each) => each.close()));

  /** Sends bytes and reads until the server closes the connection. */
  async function exchange(bytes: string, at = server): Promise<string> {
    const socket = connect((at.address() as AddressInfo).port, "127.0.0.1");
    socket.setTimeout(20_000, () =>
      socket.destroy(new Error("expected the server to close the connection within 20 s")),
    );
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    socket.write(bytes);
    await once(socket, "close");
    return text;
  }

  function rejectionOf(text: string): { status: number; code: string } {
    const [head = "", body = ""] = text.split("\r\n\r\n");
    assert.match(head, /^connection: close$/im);
    assert.match(head, /^x-content-type-options: nosniff$/im);
    const { error } = JSON.parse(body) as { error: { code: string; message: string } };
    assert.ok(error.message.length > 0);
    return { status: Number(head.split(" ")[1]), code: error.code };
  }

  it("serves a request", async () => {
    const text = await exchange("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    assert.match(text, /^HTTP\/1\.1 200 OK[\s\S]*served to undefined$/);
  });

  it("answers 408 if the headers are not complete in time", async () => {
    assert.deepEqual(rejectionOf(await exchange("GET / HTTP/1.1\r\nhost: a\r\n", impatient)), {
      status: 408,
      code: "request_timeout",
    });
  });

  it("closes half-open connections of 100 clients that timed out", async () => {
    const descriptors = () => readdirSync("/dev/fd").length;
    const before = descriptors();
    const { port } = impatient.address() as AddressInfo;
    const clients = Array.from({ length: 100 }, () => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      socket.on("error", () => undefined);
      socket.write("GET / HTTP/1.1\r\nhost: a\r\n");
      return socket.resume();
    });
    const connections = () => promisify(impatient.getConnections.bind(impatient))();
    try {
      await Promise.all(clients.map((socket) => once(socket, "end")));
      const deadlineMs = performance.now() + 10_000;
      while ((await connections()) > 0 && performance.now() < deadlineMs) await new Promise(setImmediate);
      assert.equal(await connections(), 0, "expected the server to close every connection that timed out");
      const opened = descriptors() - before;
      assert.ok(opened <= clients.length, `expected at most the clients' own 100 descriptors, found ${opened}`);
    } finally {
      for (const socket of clients) socket.destroy();
    }
  });

  it("answers 431 to a request with more than 100 headers, and reads every header of others", async () => {
    const fill = (count: number) => Array.from({ length: count }, (_, index) => `h${index}: 1\r\n`).join("");
    const request = (count: number) =>
      `GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${fill(count - 3)}origin: http://evil.example\r\n\r\n`;
    assert.match(await exchange(request(100)), /served to http:\/\/evil\.example$/);
    for (const count of [101, 150, 400]) {
      assert.deepEqual(rejectionOf(await exchange(request(count))), { status: 431, code: "headers_too_large" });
    }
  });

  it("answers 431 if the headers are too long", async () => {
    const text = await exchange(`GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`);
    assert.deepEqual(rejectionOf(text), { status: 431, code: "headers_too_large" });
  });

  it("answers 400 if the bytes are not HTTP", async () => {
    for (const bytes of ["garbage\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00"]) {
      assert.deepEqual(rejectionOf(await exchange(bytes)), { status: 400, code: "invalid_request" });
    }
  });

  it("answers 400 if a request has two lengths", async () => {
    const both = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    assert.deepEqual(rejectionOf(await exchange(both)), { status: 400, code: "invalid_request" });
  });

  it("answers 417 if a request expects anything but 100-continue", async () => {
    const text = await exchange("GET / HTTP/1.1\r\nhost: a\r\nexpect: miracles\r\n\r\n");
    assert.deepEqual(rejectionOf(text), { status: 417, code: "expectation_failed" });
  });
});
