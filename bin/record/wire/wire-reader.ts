/** A command as it went over the wire. Readers fill in the reply. */
export interface WireCommand {
  /** The verb alone: `SET`, `txn`, `UPDATE`. */
  readonly name: string;
  readonly text: string;
  /** Values of the parameters in `text`. */
  readonly values?: readonly string[];
  /** SHA-1 of the Lua script that it calls. */
  readonly script?: string;
  /** It can change data. */
  readonly changes: boolean;
  /** Null until the server has replied. */
  reply: string | null;
}

/** What a server sends. */
export type WireMessage =
  | { readonly kind: "reply"; readonly to: WireCommand }
  /** Sent without a request that waits for it: a published message, a watch event. */
  | { readonly kind: "notice"; readonly text: string };

/** Reads one connection. Data may be cut at any byte. Set-up of the connection and pings are left out. */
export interface WireReader {
  /** @returns the commands that this data completes */
  sent(data: Buffer): WireCommand[];
  /** @returns the messages that this data completes */
  received(data: Buffer): WireMessage[];
}

/** The commands of a connection that answers in order. Null: a command that is not recorded. */
export class PendingReplies {
  private readonly pending: (WireCommand | null)[] = [];

  add(command: WireCommand | null): WireCommand[] {
    this.pending.push(command);
    return command === null ? [] : [command];
  }

  /** @throws Error if no command waits */
  settle(reply: string): WireMessage[] {
    const command = this.pending.shift();
    if (command === undefined) throw new Error(`The server sent a reply to no command: ${reply}`);
    if (command === null) return [];
    command.reply = reply;
    return [{ kind: "reply", to: command }];
  }
}

/** Bytes that a decoder has not read yet. */
export class Unread {
  private bytes: Buffer = Buffer.alloc(0);

  /**
   * Adds data and decodes as often as possible.
   * @param decode the value at the start of the bytes and its size, or null if it is not complete
   */
  *read<T>(data: Buffer, decode: (bytes: Buffer) => readonly [value: T, size: number] | null): Generator<T> {
    this.bytes = Buffer.concat([this.bytes, data]);
    for (let part = decode(this.bytes); part !== null; part = decode(this.bytes)) {
      this.bytes = this.bytes.subarray(part[1]);
      yield part[0];
    }
  }
}
