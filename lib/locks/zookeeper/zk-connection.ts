import { setMaxListeners } from "node:events";
import { type Client, CreateMode, createClient, Exception, type Stat, State } from "node-zookeeper-client";
import type { Clock, TimerHandle } from "../clock";
import { withDeadline } from "../with-deadline";
import { type ZkConnection, type ZkCreateMode, ZkError, type ZkErrorKind, type ZkStat } from "./zk-port";

export interface ZkConnectionOptions {
  readonly hosts: string;
  readonly clock: Clock;
  /** Requested timeout. The server may grant a different one, within its limits. */
  readonly sessionTimeoutMs: number;
}

/**
 * Pings per session timeout. The link is dropped after two thirds of the timeout without an answer, the session after
 * the whole timeout.
 */
const PINGS_PER_SESSION = 6;
const LINK_SHARE = 2 / 3;
const CLOSE_LIMIT_MS = 1_000;
/** Maximum pause between two connection attempts. */
const RECONNECT_SPREAD_MS = 300;

const MODES: Record<ZkCreateMode, number> = {
  persistent: CreateMode.PERSISTENT,
  ephemeral: CreateMode.EPHEMERAL,
  "ephemeral-sequential": CreateMode.EPHEMERAL_SEQUENTIAL,
};

/** The watchers of one node. They share one client listener, because the client warns about a leak above ten. */
interface NodeWatchers {
  readonly callbacks: Set<() => void>;
  readonly wake: () => void;
}

/**
 * One session over node-zookeeper-client. It adds what that client lacks: it detects a link that no longer answers, it
 * detects the end of the session during a partition, and operations fail while disconnected instead of waiting in a
 * queue.
 *
 * States: connecting -> up <-> down -> ended. `ended` is final.
 */
export class ClientConnection implements ZkConnection {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #hosts: string;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<(link: "up" | "down") => void>();
  readonly #unanswered = new Set<(error: ZkError) => void>();
  #timer: TimerHandle | null = null;
  #isUp = false;
  readonly #watchers = new Map<string, NodeWatchers>();
  /** Send time of the last answered request: the server has seen this client since then. */
  #lastAnsweredMs: number;
  #shutDown: Promise<void> | null = null;

  constructor({ hosts, clock, sessionTimeoutMs }: ZkConnectionOptions) {
    this.#hosts = hosts;
    this.#clock = clock;
    this.#lastAnsweredMs = clock.nowMs();
    // Every handle of the process listens. Node warns above ten listeners to detect leaks.
    setMaxListeners(0, this.#ended.signal);
    // No retries: a repeated sequential create would leave a second node in the queue.
    const options = { sessionTimeout: sessionTimeoutMs, spinDelay: RECONNECT_SPREAD_MS, retries: 0 };
    this.#client = createClient(hosts, options);
    this.#client.on("state", (state) => this.#onState(state));
    this.#client.connect();
    this.#schedulePing();
  }

  get sessionId(): string {
    return this.#client.getSessionId().toString("hex").replace(/^0+/, "");
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

  create(path: string, mode: ZkCreateMode, data?: string): Promise<string> {
    const bytes = data === undefined ? null : Buffer.from(data);
    return this.#send((done) => this.#client.create(path, bytes, MODES[mode], done));
  }

  children(path: string): Promise<string[]> {
    return this.#send((done) => this.#client.getChildren(path, done));
  }

  /** Uses getData instead of exists: a watch set by exists on a missing node would stay on the server for ever. */
  async watch(path: string, changed: () => void): Promise<boolean> {
    const watchers = this.#watchers.get(path) ?? this.#watchersOf(path);
    watchers.callbacks.add(changed);
    let isSet = false;
    try {
      isSet = await this.#orFalse(this.#send((done) => this.#client.getData(path, watchers.wake, done)));
      return isSet;
    } finally {
      if (!isSet) watchers.callbacks.delete(changed);
      if (watchers.callbacks.size === 0 && this.#watchers.get(path) === watchers) this.#watchers.delete(path);
    }
  }

  /** The client returns undefined for an empty node. */
  async read(path: string): Promise<string | null> {
    try {
      const bytes = await this.#send<Buffer | undefined>((done) => this.#client.getData(path, null, done));
      return bytes?.toString() ?? "";
    } catch (error) {
      if (error instanceof ZkError && error.kind === "no-node") return null;
      throw error;
    }
  }

  async stat(path: string): Promise<ZkStat | null> {
    const stat = await this.#send<Stat | null>((done) => this.#client.exists(path, done));
    if (!stat) return null;
    return {
      czxid: stat.czxid.readBigInt64BE(),
      ephemeralOwner: stat.ephemeralOwner.readBigUInt64BE().toString(16),
    };
  }

  remove(path: string): Promise<boolean> {
    return this.#orFalse(this.#send((done) => this.#client.remove(path, done)));
  }

  /** Ends the session, so that its nodes are deleted at once instead of after the session timeout. */
  close(): Promise<void> {
    this.#end("closed");
    return this.#shutDown ?? Promise.resolve();
  }

  #send<T>(send: (done: (error: Exception | null, value?: T) => void) => void): Promise<T> {
    if (!this.#isUp) return Promise.reject(new ZkError("unreachable", `no connection to ZooKeeper at ${this.#hosts}`));
    const sentAtMs = this.#clock.nowMs();
    return new Promise((resolve, reject) => {
      this.#unanswered.add(reject);
      send((error, value) => {
        this.#unanswered.delete(reject);
        const failure = error && asZkError(error);
        if (!failure || !isNoAnswer(failure.kind)) this.#lastAnsweredMs = Math.max(this.#lastAnsweredMs, sentAtMs);
        if (failure) reject(failure);
        else resolve(value as T);
      });
    });
  }

  #watchersOf(path: string): NodeWatchers {
    const callbacks = new Set<() => void>();
    const wake = () => {
      if (this.#watchers.get(path) === watchers) this.#watchers.delete(path);
      for (const changed of callbacks) changed();
    };
    const watchers = { callbacks, wake };
    this.#watchers.set(path, watchers);
    return watchers;
  }

  async #orFalse(operation: Promise<unknown>): Promise<boolean> {
    try {
      await operation;
      return true;
    } catch (error) {
      if (error instanceof ZkError && error.kind === "no-node") return false;
      throw error;
    }
  }

  #onState(state: State): void {
    if (this.#ended.signal.aborted) return;
    if (state === State.SYNC_CONNECTED) {
      this.#lastAnsweredMs = this.#clock.nowMs();
      this.#setUp(true);
    } else if (state === State.EXPIRED) {
      this.#end("the ZooKeeper session expired");
    } else if (state === State.AUTH_FAILED) {
      this.#end("authentication failed");
    } else {
      this.#setUp(false);
    }
  }

  #setUp(isUp: boolean): void {
    if (this.#isUp === isUp) return;
    this.#isUp = isUp;
    for (const listener of [...this.#listeners]) listener(isUp ? "up" : "down");
  }

  #schedulePing(): void {
    const pauseMs = this.#client.getSessionTimeout() / PINGS_PER_SESSION;
    this.#timer = this.#clock.setTimer(pauseMs, () => this.#checkLink());
  }

  /** After a pause of the process this runs first, so a holder whose session expired detects it before it writes. */
  #checkLink(): void {
    const silenceMs = this.#clock.nowMs() - this.#lastAnsweredMs;
    const sessionTimeoutMs = this.#client.getSessionTimeout();
    if (silenceMs >= sessionTimeoutMs) {
      this.#end(`ZooKeeper did not answer for ${Math.round(silenceMs)} ms, so the session may have expired`);
      return;
    }
    // Drop the silent link. The client reconnects with the same session.
    if (this.#isUp && silenceMs >= sessionTimeoutMs * LINK_SHARE) this.#client.connectionManager.socket?.destroy();
    else if (this.#isUp) this.#ping();
    this.#schedulePing();
  }

  #ping(): void {
    // #checkLink detects a ping that gets no answer.
    void Promise.allSettled([this.stat("/")]);
  }

  #end(reason: string): void {
    if (this.#ended.signal.aborted) return;
    if (this.#timer) this.#clock.clearTimer(this.#timer);
    this.#ended.abort(new ZkError("session-ended", reason));
    this.#setUp(false);
    for (const reject of this.#unanswered) reject(new ZkError("session-ended", reason));
    this.#unanswered.clear();
    this.#listeners.clear();
    this.#shutDown = this.#closeClient();
  }

  async #closeClient(): Promise<void> {
    // Before its first tick the client has no socket, and closing it would throw.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (this.#client.getState() === State.SYNC_CONNECTED) await this.#closeSession();
    else this.#abandonConnecting();
  }

  /** Asks the server to end the session, and closes the socket if it does not answer. */
  async #closeSession(): Promise<void> {
    const client = this.#client;
    const closed = new Promise<void>((resolve) => {
      client.on("state", (state) => state === State.DISCONNECTED && resolve());
    });
    client.close();
    await withDeadline(this.#clock, closed, { limitMs: CLOSE_LIMIT_MS });
    client.connectionManager.socket?.destroy();
  }

  /**
   * A client that is closed while connecting takes the server's connect reply for the close reply and throws from its
   * socket. Therefore the client must not send its connect request if a pending connection opens.
   */
  #abandonConnecting(): void {
    const { connectionManager } = this.#client;
    const disconnect = () => connectionManager.socket?.destroy(new ZkError("session-ended", "closed while connecting"));
    connectionManager.onSocketConnected = disconnect;
    this.#client.close();
    disconnect();
  }
}

function isNoAnswer(kind: ZkErrorKind): boolean {
  return kind === "unreachable" || kind === "session-ended";
}

function asZkError(error: Exception): ZkError {
  const kinds = new Map<number, ZkErrorKind>([
    [Exception.CONNECTION_LOSS, "unreachable"],
    [Exception.SESSION_EXPIRED, "session-ended"],
    [Exception.NO_NODE, "no-node"],
    [Exception.NODE_EXISTS, "node-exists"],
  ]);
  return new ZkError(kinds.get(error.code) ?? "refused", error.message, error);
}
