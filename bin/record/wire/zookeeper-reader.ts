import { Unread, type WireCommand, type WireMessage, type WireReader } from "./wire-reader";

const NAMES: Readonly<Record<number, string>> = {
  1: "create",
  2: "delete",
  3: "exists",
  4: "getData",
  5: "setData",
  8: "getChildren",
  9: "sync",
  12: "getChildren2",
};
const CHANGES = new Set(["create", "delete", "setData"]);
const MODES = ["persistent", "ephemeral", "persistent sequential", "ephemeral sequential"];
const EVENTS: Readonly<Record<number, string>> = { 1: "created", 2: "deleted", 3: "changed", 4: "children changed" };
const ERRORS: Readonly<Record<number, string>> = {
  [-101]: "no node",
  [-110]: "node exists",
  [-112]: "session expired",
};
/** Of a reply's header: xid, zxid, error. */
const HEADER_BYTES = 16;
const WATCH_EVENT = -1;

/** ZooKeeper's protocol: frames of big-endian fields, replies matched by their number. */
export class ZookeeperReader implements WireReader {
  private readonly requests = new Unread();
  private readonly replies = new Unread();
  private readonly pending = new Map<number, WireCommand>();
  private hasConnected = { client: false, server: false };

  sent(data: Buffer): WireCommand[] {
    return [...this.requests.read(data, decodeFrame)].flatMap((frame) => {
      const isConnect = !this.hasConnected.client;
      this.hasConnected.client = true;
      return isConnect ? [] : this.readRequest(frame);
    });
  }

  received(data: Buffer): WireMessage[] {
    return [...this.replies.read(data, decodeFrame)].flatMap((frame) => {
      const isConnect = !this.hasConnected.server;
      this.hasConnected.server = true;
      return isConnect ? [] : this.readReply(frame);
    });
  }

  private readRequest(frame: Buffer): WireCommand[] {
    const name = NAMES[frame.readInt32BE(4)];
    if (name === undefined) return [];
    const [path, next] = textAt(frame, 8);
    const command = { name, text: `${name} ${path}${optionText(name, frame, next)}`, changes: CHANGES.has(name) };
    const sent: WireCommand = { ...command, reply: null };
    this.pending.set(frame.readInt32BE(0), sent);
    return [sent];
  }

  private readReply(frame: Buffer): WireMessage[] {
    const xid = frame.readInt32BE(0);
    if (xid === WATCH_EVENT) {
      const event = EVENTS[frame.readInt32BE(HEADER_BYTES)] ?? "session changed";
      return [{ kind: "notice", text: `${event}: ${textAt(frame, HEADER_BYTES + 8)[0]}` }];
    }
    const command = this.pending.get(xid);
    if (!command) return [];
    this.pending.delete(xid);
    const error = frame.readInt32BE(12);
    command.reply = error === 0 ? replyText(command.name, frame) : (ERRORS[error] ?? `error ${error}`);
    return [{ kind: "reply", to: command }];
  }
}

function optionText(name: string, frame: Buffer, at: number): string {
  if (name === "create") {
    const mode = MODES[frame.readInt32BE(frame.length - 4)] ?? "";
    return ` (${mode})`;
  }
  const isWatching = /^(exists|get)/.test(name) && frame[at] === 1;
  return isWatching ? " (watch)" : "";
}

function replyText(name: string, frame: Buffer): string {
  if (name === "create") return textAt(frame, HEADER_BYTES)[0];
  if (name === "exists") return `czxid ${frame.readBigInt64BE(HEADER_BYTES)}`;
  if (name.startsWith("getChildren")) {
    const names: string[] = [];
    let at = HEADER_BYTES + 4;
    for (let count = frame.readInt32BE(HEADER_BYTES); count > 0; count -= 1) {
      const [child, next] = textAt(frame, at);
      names.push(child);
      at = next;
    }
    return names.length === 0 ? "no children" : names.join(", ");
  }
  return "ok";
}

function decodeFrame(bytes: Buffer): readonly [Buffer, number] | null {
  if (bytes.length < 4) return null;
  const size = 4 + bytes.readInt32BE(0);
  return bytes.length < size ? null : [bytes.subarray(4, size), size];
}

function textAt(frame: Buffer, at: number): readonly [string, number] {
  const end = at + 4 + Math.max(0, frame.readInt32BE(at));
  return [frame.toString("utf8", at + 4, end), end];
}
