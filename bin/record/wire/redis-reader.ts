import { PendingReplies, Unread, type WireCommand, type WireMessage, type WireReader } from "./wire-reader";

type Value = string | null | Value[];

const SETUP = new Set(["INFO", "CLIENT", "HELLO", "AUTH", "SELECT", "PING", "READONLY"]);
const READS = new Set([
  "GET",
  "HGET",
  "HGETALL",
  "EXISTS",
  "PTTL",
  "TIME",
  "WATCH",
  "UNWATCH",
  "SUBSCRIBE",
  "UNSUBSCRIBE",
]);
const SCRIPT_CALLS = new Set(["EVAL", "EVALSHA"]);
const CRLF = "\r\n";

/** RESP 2 and 3, the protocol of Redis. */
export class RedisReader implements WireReader {
  private readonly requests = new Unread();
  private readonly replies = new Unread();
  private readonly pending = new PendingReplies();
  private hasSubscribed = false;

  sent(data: Buffer): WireCommand[] {
    return [...this.requests.read(data, decode)].flatMap((value) => this.pending.add(this.commandOf(value)));
  }

  received(data: Buffer): WireMessage[] {
    return [...this.replies.read(data, decode)].flatMap((value): WireMessage[] => {
      if (this.hasSubscribed && Array.isArray(value) && value[0] === "message") {
        return [{ kind: "notice", text: `message on ${value[1]}: ${value[2]}` }];
      }
      return this.pending.settle(textOf(value));
    });
  }

  private commandOf(value: Value): WireCommand | null {
    const words = (Array.isArray(value) ? value : [value]).map(String);
    const name = (words[0] ?? "").toUpperCase();
    if (name === "SUBSCRIBE") this.hasSubscribed = true;
    if (SETUP.has(name)) return null;
    const changes = !READS.has(name);
    const [script] = SCRIPT_CALLS.has(name) ? words.slice(1) : [];
    const text = [name, ...words.slice(1).map(quoted)].join(" ");
    return { name, text, changes, reply: null, ...(script === undefined ? {} : { script }) };
  }
}

function quoted(word: string): string {
  return word === "" || /\s/.test(word) ? JSON.stringify(word) : word;
}

function textOf(value: Value): string {
  if (value === null) return "nil";
  return Array.isArray(value) ? `[${value.map(textOf).join(", ")}]` : value;
}

function decode(bytes: Buffer): readonly [Value, number] | null {
  const end = bytes.indexOf(CRLF);
  if (end < 0) return null;
  const line = bytes.toString("utf8", 1, end);
  const start = end + CRLF.length;
  switch (String.fromCharCode(bytes[0] ?? 0)) {
    case "$":
      return bulk(bytes, start, Number(line));
    case "*":
    case ">":
    case "~":
      return array(bytes, start, Number(line));
    case "%":
      return array(bytes, start, 2 * Number(line));
    case "_":
      return [null, start];
    case "-":
      return [`error ${line}`, start];
    default:
      return [line, start];
  }
}

function bulk(bytes: Buffer, start: number, length: number): readonly [Value, number] | null {
  if (length < 0) return [null, start];
  const size = start + length + CRLF.length;
  return bytes.length < size ? null : [bytes.toString("utf8", start, start + length), size];
}

function array(bytes: Buffer, start: number, length: number): readonly [Value, number] | null {
  if (length < 0) return [null, start];
  const values: Value[] = [];
  let size = start;
  for (let index = 0; index < length; index += 1) {
    const part = decode(bytes.subarray(size));
    if (part === null) return null;
    values.push(part[0]);
    size += part[1];
  }
  return [values, size];
}
