import { PendingReplies, Unread, type WireCommand, type WireMessage, type WireReader } from "./wire-reader";

interface HttpRequest {
  readonly path: string;
  readonly body: string;
}

/** A whole body, or a part of a stream. */
interface HttpPart {
  readonly isStart: boolean;
  readonly text: string;
}

const CHANGES = /^\/v3\/(kv\/(put|txn|deleterange)|lease\/(grant|revoke))$/;
const BASE64_FIELDS = new Set(["key", "value", "range_end", "prev_kv"]);
const HEAD_END = "\r\n\r\n";
const CRLF = "\r\n";

/** etcd's JSON gateway: HTTP/1.1 with JSON bodies. Keys and values are base64 on the wire and shown as text. */
export class EtcdReader implements WireReader {
  private readonly requests = new Unread();
  private readonly replies = new Unread();
  private readonly pending = new PendingReplies();
  private isInStream = false;

  sent(data: Buffer): WireCommand[] {
    return [...this.requests.read(data, decodeRequest)].flatMap(({ path, body }) =>
      this.pending.add({
        name: path.replace(/^\/v3\/(kv\/)?/, "").replaceAll("/", " "),
        text: `POST ${path} ${shown(body)}`,
        changes: CHANGES.test(path),
        reply: null,
      }),
    );
  }

  received(data: Buffer): WireMessage[] {
    return [...this.replies.read(data, (bytes) => this.decodeReply(bytes))].flatMap(({ isStart, text }) => {
      if (isStart) return this.pending.settle(replyText(text));
      return text === "" || isCancelled(text) ? [] : [{ kind: "notice" as const, text: replyText(text) }];
    });
  }

  private decodeReply(bytes: Buffer): readonly [HttpPart, number] | null {
    if (this.isInStream) return this.decodeChunk(bytes, false);
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return null;
    const head = bytes.toString("latin1", 0, end);
    const start = end + HEAD_END.length;
    if (/^transfer-encoding: *chunked/im.test(head)) {
      const part = this.decodeChunk(bytes.subarray(start), true);
      return part && [part[0], start + part[1]];
    }
    const size = start + lengthIn(head);
    return bytes.length < size ? null : [{ isStart: true, text: bytes.toString("utf8", start, size) }, size];
  }

  /** The chunk with size zero ends the stream. */
  private decodeChunk(bytes: Buffer, isStart: boolean): readonly [HttpPart, number] | null {
    const end = bytes.indexOf(CRLF);
    if (end < 0) return null;
    const length = Number.parseInt(bytes.toString("latin1", 0, end), 16);
    const start = end + CRLF.length;
    const size = start + length + CRLF.length;
    if (bytes.length < size) return null;
    this.isInStream = length > 0;
    return [{ isStart, text: bytes.toString("utf8", start, start + length).trim() }, size];
  }
}

function decodeRequest(bytes: Buffer): readonly [HttpRequest, number] | null {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return null;
  const head = bytes.toString("latin1", 0, end);
  const start = end + HEAD_END.length;
  const size = start + lengthIn(head);
  if (bytes.length < size) return null;
  return [{ path: head.split(" ")[1] ?? "", body: bytes.toString("utf8", start, size) }, size];
}

function lengthIn(head: string): number {
  return Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
}

function shown(json: string): string {
  const decoded = JSON.parse(json, (field, value: unknown) =>
    BASE64_FIELDS.has(field) && typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : value,
  );
  return JSON.stringify(decoded);
}

/** What the reply says, without the cluster's ids. */
function replyText(json: string): string {
  const reply = JSON.parse(shown(json)) as Record<string, unknown>;
  const { header, ...rest } = (reply.result ?? reply) as Record<string, unknown>;
  const { revision } = (header ?? {}) as { revision?: string };
  const facts = JSON.stringify(withoutHeaders(rest));
  return revision === undefined ? facts : `revision ${revision}${facts === "{}" ? "" : ` ${facts}`}`;
}

/** The end of a stream that the client has closed: gRPC code 1. */
function isCancelled(json: string): boolean {
  return (JSON.parse(json) as { error?: { grpc_code?: number } }).error?.grpc_code === 1;
}

function withoutHeaders(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (field, part: unknown) => (field === "header" ? undefined : part)));
}
