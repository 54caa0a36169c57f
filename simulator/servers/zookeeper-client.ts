import type { TimerHandle } from "../../lib/locks/clock";
import {
  type ZkConnection,
  type ZkCreateMode,
  ZkError,
  type ZkSession,
  type ZkStat,
} from "../../lib/locks/zookeeper/zk-port";
import type { Link } from "../world/network";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";
import type { SimZooKeeper } from "./sim-zookeeper";

/** The constants of lib/locks/zookeeper/zk-connection.ts. */
const PINGS_PER_SESSION = 6;
const LINK_SHARE = 2 / 3;
const RECONNECT_SPREAD_MS = 20;

export interface ZkClientParts {
  readonly world: World;
  readonly process: SimProcess;
  readonly link: Link;
  readonly server: SimZooKeeper;
  readonly sessionTimeoutMs: number;
}

/** A client that opens a new session after the previous one has ended, as `openZkSession` does. */
export class SimZkSession implements ZkSession {
  readonly #parts: ZkClientParts;
  #current: SimZkConnection | null = null;
  #isClosed = false;

  constructor(parts: ZkClientParts) {
    this.#parts = parts;
  }

  async connected(signal: AbortSignal): Promise<ZkConnection> {
    for (;;) {
      if (this.#isClosed) throw new ZkError("refused", "the ZooKeeper session is closed");
      if (!this.#current || this.#current.ended.aborted) this.#current = new SimZkConnection(this.#parts);
      if (this.#current.isUp) return this.#current;
      if (signal.aborted) throw new ZkError("unreachable", "no connection to ZooKeeper");
      await untilLinkChanges(this.#current, signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#current?.close();
  }
}

/** One session. Like the real client, it sends pings, limits silence, and rejects requests while the link is down. */
class SimZkConnection implements ZkConnection {
  readonly #parts: ZkClientParts;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<(link: "up" | "down") => void>();
  readonly #pending = new Set<(error: ZkError) => void>();
  #session: string | null = null;
  #timer: TimerHandle | null = null;
  #isUp = false;
  /** Set from the decision to connect until the answer: two attempts at once would open two sessions. */
  #isConnecting = false;
  #lastHeardMs = Number.POSITIVE_INFINITY;

  constructor(parts: ZkClientParts) {
    this.#parts = parts;
    parts.link.onClose(() => this.#later(0, () => this.#onLinkLost()));
    this.#connect();
    this.#schedulePing();
  }

  get sessionId(): string {
    return this.#session ?? "0";
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  onLinkChange(listener: (link: "up" | "down") => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  create(path: string, mode: ZkCreateMode, data = ""): Promise<string> {
    return this.#send((session) => this.#parts.server.create(session, path, { mode, data }));
  }

  children(path: string): Promise<string[]> {
    return this.#send(() => this.#parts.server.children(path));
  }

  watch(path: string, changed: () => void): Promise<boolean> {
    const { link, server } = this.#parts;
    return this.#send((session) => server.watch(session, path, () => link.push(changed)));
  }

  read(path: string): Promise<string | null> {
    return this.#send(() => this.#parts.server.read(path));
  }

  stat(path: string): Promise<ZkStat | null> {
    return this.#send(() => this.#parts.server.stat(path));
  }

  remove(path: string): Promise<boolean> {
    return this.#send((session) => this.#parts.server.remove(session, path));
  }

  close(): void {
    this.#end("closed");
  }

  #connect(): void {
    const { link, server, process, sessionTimeoutMs: timeoutMs } = this.#parts;
    const session = this.#session;
    const sentAtMs = process.nowMs();
    this.#isConnecting = true;
    link
      .request(() =>
        server.connect({ session, timeoutMs, closeConnection: () => this.#parts.link.reset("closed by the server") }),
      )
      .then(
        (granted) => {
          this.#isConnecting = false;
          this.#onConnected(granted, sentAtMs);
        },
        () => {
          this.#isConnecting = false;
          this.#reconnectSoon();
        },
      );
  }

  #onConnected(session: string | null, sentAtMs: number): void {
    if (this.#ended.signal.aborted) return;
    if (session === null) {
      this.#end("the session has expired");
      return;
    }
    this.#session = session;
    this.#lastHeardMs = sentAtMs;
    this.#setUp(true);
  }

  #onLinkLost(): void {
    if (this.#ended.signal.aborted) return;
    this.#setUp(false);
    this.#reconnectSoon();
  }

  /** Schedules one reconnect; further calls are ignored until it is answered. */
  #reconnectSoon(): void {
    if (this.#isConnecting || this.#ended.signal.aborted) return;
    this.#isConnecting = true;
    this.#later(this.#parts.world.random.between(1, RECONNECT_SPREAD_MS), () => {
      if (!this.#ended.signal.aborted) this.#connect();
    });
  }

  #send<T>(operation: (session: string) => T): Promise<T> {
    const session = this.#session;
    if (!this.#isUp || session === null)
      return Promise.reject(new ZkError("unreachable", "no connection to ZooKeeper"));
    const { link, server, process } = this.#parts;
    const sentAtMs = process.nowMs();
    return new Promise((resolve, reject) => {
      this.#pending.add(reject);
      const markReplied = () => {
        this.#pending.delete(reject);
        this.#lastHeardMs = Math.max(this.#lastHeardMs, sentAtMs);
      };
      link
        .request(() => {
          if (server.recordHeartbeat(session)) return operation(session);
          link.reset("session expired");
          throw new ZkError("unreachable", "the session has expired");
        })
        .then(
          (value) => {
            markReplied();
            resolve(value);
          },
          (error: unknown) => {
            const failure = error instanceof ZkError ? error : new ZkError("unreachable", String(error));
            if (failure.kind !== "unreachable") markReplied();
            this.#pending.delete(reject);
            reject(failure);
          },
        );
    });
  }

  #schedulePing(): void {
    const { process, sessionTimeoutMs } = this.#parts;
    this.#timer = process.setTimer(sessionTimeoutMs / PINGS_PER_SESSION, () => this.#checkLink());
  }

  #checkLink(): void {
    const { process, sessionTimeoutMs, link } = this.#parts;
    const silentMs = process.nowMs() - this.#lastHeardMs;
    if (silentMs >= sessionTimeoutMs) {
      this.#end("no reply for a session timeout");
      return;
    }
    if (this.#isUp && silentMs >= sessionTimeoutMs * LINK_SHARE) link.reset("no reply for too long");
    else if (this.#isUp) void Promise.allSettled([this.stat("")]);
    this.#schedulePing();
  }

  #setUp(isUp: boolean): void {
    if (this.#isUp === isUp) return;
    this.#isUp = isUp;
    for (const listener of [...this.#listeners]) listener(isUp ? "up" : "down");
  }

  #end(reason: string): void {
    if (this.#ended.signal.aborted) return;
    const { process, link, server, world } = this.#parts;
    world.trace(() => `${process.name}: session ended (${reason})`);
    if (this.#timer) process.clearTimer(this.#timer);
    this.#ended.abort(new ZkError("session-ended", reason));
    this.#setUp(false);
    for (const reject of this.#pending) reject(new ZkError("session-ended", reason));
    this.#pending.clear();
    this.#listeners.clear();
    const session = this.#session;
    // If this request is lost, the session expires.
    if (session !== null) void Promise.allSettled([link.request(() => server.close(session))]);
  }

  #later(afterMs: number, run: () => void): void {
    const { world, process } = this.#parts;
    world.schedule({ afterMs, process, run });
  }
}

function untilLinkChanges(connection: SimZkConnection, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stopListening();
      signal.removeEventListener("abort", done);
      connection.ended.removeEventListener("abort", done);
      resolve();
    };
    const stopListening = connection.onLinkChange(done);
    signal.addEventListener("abort", done, { once: true });
    connection.ended.addEventListener("abort", done, { once: true });
  });
}
