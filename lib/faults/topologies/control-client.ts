import { once } from "node:events";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { type ControlReply, type ControlRequest, controlReplySchema } from "./control";

/** Covers the installation of a package. */
const REPLY_LIMIT_MS = 9 * 60_000;

/** A connection to the lab's supervisor. Closing it ends the topology that it started. */
export class ControlClient implements AsyncDisposable {
  private readonly waiting: { resolve(reply: ControlReply): void; reject(error: Error): void }[] = [];
  private ended: Error | null = null;

  private constructor(private readonly socket: Socket) {
    createInterface({ input: socket }).on("line", (line) => this.receive(line));
    socket.on("error", (error) => this.end(error));
    socket.on("close", () => this.end(new Error("the lab's supervisor ended the connection")));
  }

  /** @throws Error if no supervisor listens there */
  static async open(socketFile: string): Promise<ControlClient> {
    const socket = connect(socketPath(socketFile));
    await once(socket, "connect");
    return new ControlClient(socket);
  }

  /** @throws Error with the supervisor's reason if it could not do it, or if it ended */
  async ask(request: ControlRequest): Promise<Exclude<ControlReply, { error: string }>> {
    if (this.ended) throw this.ended;
    const answer = new Promise<ControlReply>((resolve, reject) => this.waiting.push({ resolve, reject }));
    this.socket.write(`${JSON.stringify(request)}\n`);
    const timer = setTimeout(
      () => this.socket.destroy(new Error(`no reply within ${REPLY_LIMIT_MS / 1_000} s`)),
      REPLY_LIMIT_MS,
    );
    try {
      const reply = await answer;
      if ("error" in reply) throw new Error(reply.error);
      return reply;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns when the supervisor has ended the topology. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.closed) return;
    const closed = once(this.socket, "close").catch(() => {});
    this.socket.end();
    await closed;
  }

  private receive(line: string): void {
    const parsed = controlReplySchema.safeParse(JSON.parse(line));
    const next = this.waiting.shift();
    if (parsed.success) next?.resolve(parsed.data);
    else next?.reject(new Error("the supervisor runs another version of the lab; restart the lab"));
  }

  private end(error: Error): void {
    this.ended ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(this.ended);
  }
}

/** The kernel limits the path of a socket to about 100 characters, so the shorter of both forms is used. */
export function socketPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.length < file.length ? relative : file;
}
