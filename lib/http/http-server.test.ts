import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { createHttpServer } from "./http-server";

const limits = { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 };

describe("the HTTP server", () => {
  const server = createHttpServer((_request, response) => response.end("served"), limits);
  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => server.close());

  /** Sends bytes and reads until the server closes the connection. */
  async function exchange(...parts: string[]): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.setTimeout(20_000, () =>
      socket.destroy(new Error("expected the server to close the connection within 20 s")),
    );
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    for (const part of parts) socket.write(part);
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
    assert.match(text, /^HTTP\/1\.1 200 OK[\s\S]*served$/);
  });

  it("answers 408 if the headers are not complete in time", async () => {
    assert.deepEqual(rejectionOf(await exchange("GET / HTTP/1.1\r\nhost: a\r\n")), {
      status: 408,
      code: "request_timeout",
    });
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
