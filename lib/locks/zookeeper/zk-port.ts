/**
 * The ZooKeeper client that the library needs. `openZkSession` wraps node-zookeeper-client; the simulator has another.
 */
export interface ZkSession extends AsyncDisposable {
  /**
   * Resolves with the connection once it is up. Opens a new session if the last one has ended.
   * @throws {ZkError} `unreachable` if the signal aborts first
   */
  connected(signal: AbortSignal): Promise<ZkConnection>;
}

/** Default session timeout of the real client. */
export const DEFAULT_SESSION_TIMEOUT_MS = 6_000;

/**
 * One ZooKeeper session. Its ephemeral nodes are deleted when it ends. Operations are answered in send order. While the
 * link is down they fail at once, because a queued operation could run after its caller has given up. After a reconnect,
 * reads can miss a create whose reply was lost, until a write has been answered (`catchUp`).
 */
export interface ZkConnection {
  /** Hex, as in ZooKeeper's tools. */
  readonly sessionId: string;
  readonly isUp: boolean;
  /** Aborts permanently when the session has expired or may have: no answer for a whole session timeout. */
  readonly ended: AbortSignal;
  /**
   * Calls the listener when the link is lost (the session may survive) and when it is back. @returns a function that
   * removes the listener
   */
  onLinkChange(listener: (link: "up" | "down") => void): () => void;
  /** @returns the created path, including the sequence number if the mode adds one */
  create(path: string, mode: ZkCreateMode, data?: string): Promise<string>;
  children(path: string): Promise<string[]>;
  /**
   * Sets a one-shot watch for the node's next change. @returns false if the node does not exist; then no watch is set
   */
  watch(path: string, changed: () => void): Promise<boolean>;
  /** The node's data. @returns null if the node does not exist */
  read(path: string): Promise<string | null>;
  /** @returns null if the node does not exist */
  stat(path: string): Promise<ZkStat | null>;
  /** @returns false if the node does not exist */
  remove(path: string): Promise<boolean>;
}

export interface ZkStat {
  /** Transaction that created the node. It rises with every change of the ensemble, so it can be a fencing token. */
  readonly czxid: bigint;
  /** Session that owns the node, hex; "0" for a persistent one. */
  readonly ephemeralOwner: string;
}

export type ZkCreateMode = "persistent" | "ephemeral" | "ephemeral-sequential";

export type ZkErrorKind = "unreachable" | "session-ended" | "no-node" | "node-exists" | "refused";

/** `unreachable` and `session-ended` leave the outcome unknown; the other kinds are answers of the server. */
export class ZkError extends Error {
  override readonly name = "ZkError";
  readonly kind: ZkErrorKind;

  constructor(kind: ZkErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

export function isZkError(error: unknown, ...kinds: ZkErrorKind[]): error is ZkError {
  return error instanceof Error && error.name === "ZkError" && kinds.includes((error as ZkError).kind);
}

declare module "../lock-entry" {
  interface LockDependencies {
    /** `openZkSession(hosts)`. */
    zookeeper(): ZkSession;
  }
}
