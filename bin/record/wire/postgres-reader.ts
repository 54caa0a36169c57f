import { PendingReplies, Unread, type WireCommand, type WireMessage, type WireReader } from "./wire-reader";

interface Message {
  /** Null: the first message of a connection, which has no type. */
  readonly type: string | null;
  readonly body: Buffer;
}

const CHANGES = /\b(UPDATE|INSERT|DELETE|LOCK|pg_advisory\w*)\b/i;
const SETUP = /^(SET |SHOW )/i;

/** PostgreSQL's protocol 3.0: simple queries, and prepared statements with values as text. */
export class PostgresReader implements WireReader {
  private readonly requests = new Unread();
  private readonly replies = new Unread();
  private readonly pending = new PendingReplies();
  private readonly statements = new Map<string, string>();
  private bound: { readonly text: string; readonly values: readonly string[] } | null = null;
  private hasStarted = false;
  private isReady = false;
  private columns: string[] = [];
  private reply: string[] = [];
  private hasRows = false;

  sent(data: Buffer): WireCommand[] {
    return [...this.requests.read(data, (bytes) => this.decodeRequest(bytes))].flatMap((message) =>
      this.readRequest(message),
    );
  }

  received(data: Buffer): WireMessage[] {
    return [...this.replies.read(data, decodeMessage)].flatMap((message) => this.readReply(message));
  }

  private decodeRequest(bytes: Buffer): readonly [Message, number] | null {
    if (this.hasStarted) return decodeMessage(bytes);
    if (bytes.length < 4 || bytes.length < bytes.readInt32BE(0)) return null;
    this.hasStarted = true;
    const size = bytes.readInt32BE(0);
    return [{ type: null, body: bytes.subarray(4, size) }, size];
  }

  private readRequest({ type, body }: Message): WireCommand[] {
    switch (type) {
      case "Q":
        return this.pending.add(commandOf(textAt(body, 0)[0], []));
      case "P": {
        const [name, next] = textAt(body, 0);
        this.statements.set(name, textAt(body, next)[0]);
        return [];
      }
      case "B":
        this.bound = this.readBind(body);
        return [];
      case "S": {
        const { bound } = this;
        this.bound = null;
        return this.pending.add(bound && commandOf(bound.text, bound.values));
      }
      default:
        return [];
    }
  }

  private readBind(body: Buffer): { readonly text: string; readonly values: readonly string[] } {
    const [, afterPortal] = textAt(body, 0);
    const [name, afterName] = textAt(body, afterPortal);
    const formats = body.readInt16BE(afterName);
    let at = afterName + 2 + 2 * formats;
    const count = body.readInt16BE(at);
    at += 2;
    const values: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const [value, next] = valueAt(body, at);
      values.push(value);
      at = next;
    }
    return { text: this.statements.get(name) ?? name, values };
  }

  private readReply({ type, body }: Message): WireMessage[] {
    switch (type) {
      case "T":
        this.columns = columnsOf(body);
        break;
      case "D":
        this.hasRows = true;
        this.reply.push(rowText(this.columns, body));
        break;
      case "C":
        if (!this.hasRows) this.reply.push(textAt(body, 0)[0]);
        this.hasRows = false;
        break;
      case "E":
        this.reply.push(errorText(body));
        break;
      case "Z": {
        const reply = this.reply.join(", ");
        this.reply = [];
        // The first one ends the start of the connection.
        if (this.isReady) return this.pending.settle(reply);
        this.isReady = true;
        break;
      }
    }
    return [];
  }
}

function commandOf(text: string, values: readonly string[]): WireCommand | null {
  const line = text.replace(/\s+/g, " ").trim();
  if (SETUP.test(line)) return null;
  const name = (/^(?:WITH .*?\b(INSERT|UPDATE)\b|(\w+))/i.exec(line) ?? []).slice(1).find(Boolean) ?? line;
  return {
    name: name.toUpperCase(),
    text: line,
    changes: CHANGES.test(line),
    reply: null,
    ...(values.length === 0 ? {} : { values }),
  };
}

function decodeMessage(bytes: Buffer): readonly [Message, number] | null {
  if (bytes.length < 5) return null;
  const size = 1 + bytes.readInt32BE(1);
  if (bytes.length < size) return null;
  return [{ type: String.fromCharCode(bytes[0] ?? 0), body: bytes.subarray(5, size) }, size];
}

/** Text that ends with a zero byte. @returns the text and where the next field starts */
function textAt(body: Buffer, at: number): readonly [string, number] {
  const end = body.indexOf(0, at);
  return [body.toString("utf8", at, end), end + 1];
}

function valueAt(body: Buffer, at: number): readonly [string, number] {
  const length = body.readInt32BE(at);
  const start = at + 4;
  return length < 0 ? ["NULL", start] : [body.toString("utf8", start, start + length), start + length];
}

/** Bytes of a column's description after its name. */
const COLUMN_BYTES = 18;

function columnsOf(body: Buffer): string[] {
  const names: string[] = [];
  let at = 2;
  for (let count = body.readInt16BE(0); count > 0; count -= 1) {
    const [name, next] = textAt(body, at);
    names.push(name);
    at = next + COLUMN_BYTES;
  }
  return names;
}

function rowText(columns: readonly string[], body: Buffer): string {
  let at = 2;
  const values = columns.map((column) => {
    const [value, next] = valueAt(body, at);
    at = next;
    return value === "" ? column : `${column} ${value}`;
  });
  return values.join(" ");
}

function errorText(body: Buffer): string {
  const fields = new Map<string, string>();
  for (let at = 0; (body[at] ?? 0) !== 0; ) {
    const [text, next] = textAt(body, at + 1);
    fields.set(String.fromCharCode(body[at] ?? 0), text);
    at = next;
  }
  return `error ${fields.get("C")} ${fields.get("M")}`;
}
