import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { createHttpServer } from "./http-server";

const limits = { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 };

describe("a connection", () => {
  const server = createHttpServer((_request, response) => response.end("served"), limits);
  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => server.close());

  /** Sends bytes and reads until the server closes the connection. */
  async function exchange(...parts: string[]): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.setTimeout(20_000, () => socket.destroy(new Error("the connection stays open")));
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    for (const part of parts) socket.write(part);
    await once(socket, "close");
    return text;
  }

  function refusal(text: string): { status: number; code: string } {
    const [head = "", body = ""] = text.split("\r\n\r\n");
    assert.match(head, /^connection: close$/im);
    assert.match(head, /^x-content-type-options: nosniff$/im);
    const { error } = JSON.parse(body) as { error: { code: string; message: string } };
    assert.ok(error.message.length > 0);
    return { status: Number(head.split(" ")[1]), code: error.code };
  }

  it("is served when it sends a request", async () => {
    const text = await exchange("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    assert.match(text, /^HTTP\/1\.1 200 OK[\s\S]*served$/);
  });

  it("ends with 408 when its headers do not come to an end", async () => {
    assert.deepEqual(refusal(await exchange("GET / HTTP/1.1\r\nhost: a\r\n")), {
      status: 408,
      code: "request_timeout",
    });
  });

  it("ends with 431 when its headers are too long", async () => {
    const text = await exchange(`GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`);
    assert.deepEqual(refusal(text), { status: 431, code: "headers_too_large" });
  });

  it("ends with 400 when what it sends is no HTTP", async () => {
    for (const bytes of ["garbage\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00"]) {
      assert.deepEqual(refusal(await exchange(bytes)), { status: 400, code: "invalid_request" });
    }
  });

  it("ends with 400 when a request could be read in two ways", async () => {
    const both = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    assert.deepEqual(refusal(await exchange(both)), { status: 400, code: "invalid_request" });
  });

  it("ends with 417 when it expects what nobody promises", async () => {
    const text = await exchange("GET / HTTP/1.1\r\nhost: a\r\nexpect: miracles\r\n\r\n");
    assert.deepEqual(refusal(text), { status: 417, code: "expectation_failed" });
  });
});
