import { PendingReplies, Unread, type WireCommand, type WireMessage, type WireReader } from "./wire-reader";

const STORES = new Set(["add", "set", "cas", "replace", "append", "prepend"]);
const READS = new Set(["get", "gets"]);
const SETUP = new Set(["version"]);
const CRLF = "\r\n";

/** Memcached's text protocol. */
export class MemcachedReader implements WireReader {
  private readonly requests = new Unread();
  private readonly replies = new Unread();
  private readonly pending = new PendingReplies();

  sent(data: Buffer): WireCommand[] {
    return [...this.requests.read(data, decodeRequest)].flatMap((lines) => this.pending.add(commandOf(lines)));
  }

  received(data: Buffer): WireMessage[] {
    return [...this.replies.read(data, decodeReply)].flatMap((reply) => this.pending.settle(reply));
  }
}

function commandOf([line = "", value]: readonly string[]): WireCommand | null {
  const [name = ""] = line.split(" ");
  if (SETUP.has(name)) return null;
  return { name, text: value === undefined ? line : `${line} ${value}`, changes: !READS.has(name), reply: null };
}

/** The command's line, and the value that a store sends after it. */
function decodeRequest(bytes: Buffer): readonly [string[], number] | null {
  const end = bytes.indexOf(CRLF);
  if (end < 0) return null;
  const line = bytes.toString("utf8", 0, end);
  const [name = "", , , , length] = line.split(" ");
  const start = end + CRLF.length;
  if (!STORES.has(name)) return [[line], start];
  const size = start + Number(length) + CRLF.length;
  return bytes.length < size ? null : [[line, bytes.toString("utf8", start, size - CRLF.length)], size];
}

/** One line, or the value with its version. */
function decodeReply(bytes: Buffer): readonly [string, number] | null {
  const end = bytes.indexOf(CRLF);
  if (end < 0) return null;
  const line = bytes.toString("utf8", 0, end);
  const start = end + CRLF.length;
  if (line === "END") return ["no item", start];
  if (!line.startsWith("VALUE ")) return [line, start];
  const [, , , length, version] = line.split(" ");
  const valueEnd = start + Number(length);
  const size = valueEnd + `${CRLF}END${CRLF}`.length;
  if (bytes.length < size) return null;
  const value = bytes.toString("utf8", start, valueEnd);
  return [version === undefined ? value : `${value} (version ${version})`, size];
}
