import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EtcdReader } from "./etcd-reader";
import { MemcachedReader } from "./memcached-reader";
import { PostgresReader } from "./postgres-reader";
import { RedisReader } from "./redis-reader";
import type { WireReader } from "./wire-reader";
import { ZookeeperReader } from "./zookeeper-reader";

/** A conversation, as "client: bytes" and "server: bytes" in their order. */
type Part = readonly ["client" | "server", Buffer];

/** What the reader reports of a conversation whose parts arrive in pieces of this size. */
function reported(reader: WireReader, parts: readonly Part[], pieceBytes: number): string[] {
  const lines: string[] = [];
  for (const [from, bytes] of parts) {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      if (from === "client") {
        for (const { text, values = [], changes } of reader.sent(piece)) {
          lines.push([changes ? "change" : "read", text, ...values].join(" | "));
        }
      } else {
        for (const message of reader.received(piece)) {
          lines.push(message.kind === "reply" ? `${message.to.name} -> ${message.to.reply}` : `notice ${message.text}`);
        }
      }
    }
  }
  return lines;
}

const client = (text: string): Part => ["client", Buffer.from(text)];
const server = (text: string): Part => ["server", Buffer.from(text)];

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const int16 = (value: number) => int32(value).subarray(2);
const int64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
};
const zeroEnded = (text: string) => Buffer.from(`${text}\0`);
const counted = (text: string) => Buffer.concat([int32(Buffer.byteLength(text)), Buffer.from(text)]);
const framed = (...fields: Buffer[]) => Buffer.concat([int32(Buffer.concat(fields).length), ...fields]);
const message = (type: string, ...fields: Buffer[]) =>
  Buffer.concat([Buffer.from(type), int32(4 + Buffer.concat(fields).length), ...fields]);
const column = (name: string) => Buffer.concat([zeroEnded(name), Buffer.alloc(18)]);

function httpJson(head: string, body: object): string {
  const text = JSON.stringify(body);
  return `${head}\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}
function chunk(body: object): string {
  const text = `${JSON.stringify(body)}\n`;
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}
const base64 = (text: string) => Buffer.from(text).toString("base64");

const CASES: readonly { name: string; open: () => WireReader; parts: readonly Part[]; lines: readonly string[] }[] = [
  {
    name: "Redis",
    open: () => new RedisReader(),
    parts: [
      client("*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n"),
      server("%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n"),
      client("*3\r\n$3\r\nset\r\n$1\r\nk\r\n$3\r\na b\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"),
      server("+OK\r\n$-1\r\n"),
      client("*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n"),
      server("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n"),
    ],
    lines: [
      'change | SET k "a b"',
      "read | GET k",
      "SET -> OK",
      "GET -> nil",
      "read | SUBSCRIBE c",
      "SUBSCRIBE -> [subscribe, c, 1]",
      "notice message on c: 0",
    ],
  },
  {
    name: "Memcached",
    open: () => new MemcachedReader(),
    parts: [
      client("add k 0 5 2\r\n42\r\ngets k\r\n"),
      server("STORED\r\nVALUE k 0 2 17\r\n42\r\nEND\r\n"),
      client("cas k 0 5 2 17\r\n41\r\nget none\r\n"),
      server("EXISTS\r\nEND\r\n"),
    ],
    lines: [
      "change | add k 0 5 2 42",
      "read | gets k",
      "add -> STORED",
      "gets -> 42 (version 17)",
      "change | cas k 0 5 2 17 41",
      "read | get none",
      "cas -> EXISTS",
      "get -> no item",
    ],
  },
  {
    name: "PostgreSQL",
    open: () => new PostgresReader(),
    parts: [
      ["client", framedWithLength(int32(196_608), zeroEnded("user"), zeroEnded("me"), zeroEnded(""))],
      ["server", Buffer.concat([message("R", int32(0)), message("Z", Buffer.from("I"))])],
      [
        "client",
        Buffer.concat([
          message("P", zeroEnded("read"), zeroEnded("SELECT stock\n  FROM products WHERE id = $1"), int16(0)),
          message("B", zeroEnded(""), zeroEnded("read"), int16(0), int16(1), counted("7"), int16(0)),
          message("E", zeroEnded(""), int32(0)),
          message("S"),
        ]),
      ],
      [
        "server",
        Buffer.concat([
          message("T", int16(1), column("stock")),
          message("D", int16(1), counted("42")),
          message("C", zeroEnded("SELECT 1")),
          message("Z", Buffer.from("I")),
        ]),
      ],
      ["client", message("Q", zeroEnded("UPDATE products SET stock = 41"))],
      [
        "server",
        Buffer.concat([
          message(
            "E",
            Buffer.from("C"),
            zeroEnded("40001"),
            Buffer.from("M"),
            zeroEnded("conflict"),
            Buffer.from("\0"),
          ),
          message("Z", Buffer.from("E")),
        ]),
      ],
    ],
    lines: [
      "read | SELECT stock FROM products WHERE id = $1 | 7",
      "SELECT -> stock 42",
      "change | UPDATE products SET stock = 41",
      "UPDATE -> error 40001 conflict",
    ],
  },
  {
    name: "ZooKeeper",
    open: () => new ZookeeperReader(),
    parts: [
      ["client", framed(Buffer.alloc(44))],
      ["server", framed(Buffer.alloc(37))],
      ["client", framed(int32(1), int32(1), counted("/locks/n-"), counted(""), int32(0), int32(3))],
      ["server", framed(int32(1), int64(9n), int32(0), counted("/locks/n-0000000001"))],
      ["client", framed(int32(2), int32(4), counted("/locks/n-0000000000"), Buffer.from([1]))],
      ["client", framed(int32(-2), int32(11))],
      ["server", framed(int32(-2), int64(9n), int32(0))],
      ["server", framed(int32(2), int64(9n), int32(-101))],
      ["server", framed(int32(-1), int64(9n), int32(0), int32(2), int32(3), counted("/locks/n-0000000000"))],
    ],
    lines: [
      "change | create /locks/n- (ephemeral sequential)",
      "create -> /locks/n-0000000001",
      "read | getData /locks/n-0000000000 (watch)",
      "getData -> no node",
      "notice deleted: /locks/n-0000000000",
    ],
  },
  {
    name: "etcd",
    open: () => new EtcdReader(),
    parts: [
      client(httpJson("POST /v3/kv/deleterange HTTP/1.1", { key: base64("lock/1") })),
      server(httpJson("HTTP/1.1 200 OK", { header: { revision: "8", cluster_id: "1" }, deleted: "1" })),
      client(httpJson("POST /v3/watch HTTP/1.1", { create_request: { key: base64("lock/1") } })),
      server(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk({ result: { created: true } })}`),
      server(chunk({ result: { events: [{ type: "DELETE" }] } })),
      server(`${chunk({ error: { grpc_code: 1, message: "context canceled" } })}0\r\n\r\n`),
    ],
    lines: [
      'change | POST /v3/kv/deleterange {"key":"lock/1"}',
      'deleterange -> revision 8 {"deleted":"1"}',
      'read | POST /v3/watch {"create_request":{"key":"lock/1"}}',
      'watch -> {"created":true}',
      'notice {"events":[{"type":"DELETE"}]}',
    ],
  },
];

/** A startup message counts its length field. */
function framedWithLength(...fields: Buffer[]): Buffer {
  const body = Buffer.concat(fields);
  return Buffer.concat([int32(4 + body.length), body]);
}

describe("the readers of the servers' protocols", () => {
  for (const { name, open, parts, lines } of CASES) {
    it(`report the commands, replies and notices of ${name} for data cut at any byte`, () => {
      for (const pieceBytes of [1, 3, 7, 100_000]) {
        const found = reported(open(), parts, pieceBytes);
        // Pieces of different sizes complete a command and the next one at different times.
        assert.deepEqual([...found].sort(), [...lines].sort(), `in pieces of ${pieceBytes} bytes`);
      }
    });
  }

  it("fail if a server replies to no command", () => {
    assert.throws(() => new MemcachedReader().received(Buffer.from("STORED\r\n")), /reply to no command: STORED/);
  });
});
