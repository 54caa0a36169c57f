import { setMaxListeners } from "node:events";
import { type Client, CreateMode, createClient, Exception, type Stat, State } from "node-zookeeper-client";
import type { Clock, TimerHandle } from "../clock";
import { withDeadline } from "../with-deadline";
import { type ZkConnection, type ZkCreateMode, ZkError, type ZkErrorKind, type ZkStat } from "./zk-port";

export interface ZkConnectionOptions {
  readonly hosts: string;
  readonly clock: Clock;
  /** Asked for; the server may grant another, within its own limits. */
  readonly sessionTimeoutMs: number;
}

/** Pings per session timeout; the link is given up after two thirds without an answer, the session after the whole. */
const PINGS_PER_SESSION = 6;
const LINK_SHARE = 2 / 3;
const CLOSE_LIMIT_MS = 1_000;
/** Longest pause between two attempts to connect. */
const RECONNECT_SPREAD_MS = 300;

const MODES: Record<ZkCreateMode, number> = {
  persistent: CreateMode.PERSISTENT,
  ephemeral: CreateMode.EPHEMERAL,
  "ephemeral-sequential": CreateMode.EPHEMERAL_SEQUENTIAL,
};

/** Those who watch one node. The client is given one listener for them all: it takes more than ten for a leak. */
interface Herd {
  readonly members: Set<() => void>;
  readonly wake: () => void;
}

/**
 * One session over node-zookeeper-client, with what that client lacks: a limit on the server's silence (it takes a link
 * that swallows everything for connected), an end of the session that is noticed while partitioned, and operations
 * that fail instead of waiting in a queue while disconnected.
 *
 * States: connecting -> up <-> down -> ended; ended is final.
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
  readonly #herds = new Map<string, Herd>();
  /** When the last answered request was sent: the server has heard of us since. A link may also never be answered at all. */
  #lastHeardMs: number;
  #shutDown: Promise<void> | null = null;

  constructor({ hosts, clock, sessionTimeoutMs }: ZkConnectionOptions) {
    this.#hosts = hosts;
    this.#clock = clock;
    this.#lastHeardMs = clock.nowMs();
    // Every contender of the process listens to it; Node's warning at ten is about leaks.
    setMaxListeners(0, this.#ended.signal);
    // retries: a repeated sequential create would leave a ghost in the queue.
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
    return this.#ask((done) => this.#client.create(path, bytes, MODES[mode], done));
  }

  children(path: string): Promise<string[]> {
    return this.#ask((done) => this.#client.getChildren(path, done));
  }

  /** getData, not exists: a watch by exists on a node that is gone would stay on the server for ever. */
  async watch(path: string, changed: () => void): Promise<boolean> {
    const herd = this.#herds.get(path) ?? this.#newHerd(path);
    herd.members.add(changed);
    let isSet = false;
    try {
      isSet = await this.#orFalse(this.#ask((done) => this.#client.getData(path, herd.wake, done)));
      return isSet;
    } finally {
      if (!isSet) herd.members.delete(changed);
      if (herd.members.size === 0 && this.#herds.get(path) === herd) this.#herds.delete(path);
    }
  }

  /** An empty node's data arrives as nothing. */
  async read(path: string): Promise<string | null> {
    try {
      const bytes = await this.#ask<Buffer | undefined>((done) => this.#client.getData(path, null, done));
      return bytes?.toString() ?? "";
    } catch (error) {
      if (error instanceof ZkError && error.kind === "no-node") return null;
      throw error;
    }
  }

  async stat(path: string): Promise<ZkStat | null> {
    const stat = await this.#ask<Stat | null>((done) => this.#client.exists(path, done));
    if (!stat) return null;
    return {
      czxid: stat.czxid.readBigInt64BE(),
      ephemeralOwner: stat.ephemeralOwner.readBigUInt64BE().toString(16),
    };
  }

  remove(path: string): Promise<boolean> {
    return this.#orFalse(this.#ask((done) => this.#client.remove(path, done)));
  }

  /** Ends the session, so that its nodes are gone at once instead of after the session timeout. */
  close(): Promise<void> {
    this.#end("closed");
    return this.#shutDown ?? Promise.resolve();
  }

  #ask<T>(send: (done: (error: Exception | null, value?: T) => void) => void): Promise<T> {
    if (!this.#isUp) return Promise.reject(new ZkError("unreachable", `no connection to ZooKeeper at ${this.#hosts}`));
    const sentAtMs = this.#clock.nowMs();
    return new Promise((resolve, reject) => {
      this.#unanswered.add(reject);
      send((error, value) => {
        this.#unanswered.delete(reject);
        const failure = error && asZkError(error);
        if (!failure || !isSilence(failure.kind)) this.#lastHeardMs = Math.max(this.#lastHeardMs, sentAtMs);
        if (failure) reject(failure);
        else resolve(value as T);
      });
    });
  }

  #newHerd(path: string): Herd {
    const members = new Set<() => void>();
    const wake = () => {
      if (this.#herds.get(path) === herd) this.#herds.delete(path);
      for (const changed of members) changed();
    };
    const herd = { members, wake };
    this.#herds.set(path, herd);
    return herd;
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
      this.#lastHeardMs = this.#clock.nowMs();
      this.#setUp(true);
    } else if (state === State.EXPIRED) {
      this.#end("the session has expired");
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

  /** Runs first after a pause of the process, so a holder that slept through its session learns of it before it writes. */
  #checkLink(): void {
    const silentMs = this.#clock.nowMs() - this.#lastHeardMs;
    const sessionTimeoutMs = this.#client.getSessionTimeout();
    if (silentMs >= sessionTimeoutMs) {
      this.#end(`no answer for ${Math.round(silentMs)} ms: the session may have expired`);
      return;
    }
    // Leaves the silent link; the client connects again, with the same session.
    if (this.#isUp && silentMs >= sessionTimeoutMs * LINK_SHARE) this.#client.connectionManager.socket?.destroy();
    else if (this.#isUp) this.#ping();
    this.#schedulePing();
  }

  #ping(): void {
    // A ping that fails shows as silence, which #checkLink measures.
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
    // Before its first tick the client has no socket yet, and closing it would throw.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (this.#client.getState() === State.SYNC_CONNECTED) await this.#sayGoodbye();
    else this.#breakOff();
  }

  /** So that the server drops the session now; leaves the socket if nobody answers. */
  async #sayGoodbye(): Promise<void> {
    const client = this.#client;
    const closed = new Promise<void>((resolve) => {
      client.on("state", (state) => state === State.DISCONNECTED && resolve());
    });
    client.close();
    await withDeadline(this.#clock, closed, { limitMs: CLOSE_LIMIT_MS });
    client.connectionManager.socket?.destroy();
  }

  /**
   * A client that is told to close while it connects takes the server's welcome for the answer to its goodbye, and throws
   * out of its socket. So it is not to greet the server any more, should a link that it waits for come up.
   */
  #breakOff(): void {
    const { connectionManager } = this.#client;
    const leave = () => connectionManager.socket?.destroy(new ZkError("session-ended", "closed while connecting"));
    connectionManager.onSocketConnected = leave;
    this.#client.close();
    leave();
  }
}

function isSilence(kind: ZkErrorKind): boolean {
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
