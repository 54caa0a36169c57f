/**
 * All the library asks of a ZooKeeper client. The real one (`openZkSession`) wraps node-zookeeper-client; the
 * simulator brings its own.
 */
export interface ZkSession extends AsyncDisposable {
  /**
   * The connection in use once it is up; opens one, with a new session, where the last one has ended.
   * @throws {ZkError} `unreachable` when the signal aborts first
   */
  connected(signal: AbortSignal): Promise<ZkConnection>;
}

/** Of the real client, where nobody says otherwise. */
export const DEFAULT_SESSION_TIMEOUT_MS = 6_000;

/**
 * One ZooKeeper session. Its ephemeral nodes die with it. Operations are answered in the order they were sent, and are
 * refused at once while the link is down: an operation that waits in a queue may be carried out when nobody wants it
 * any more.
 */
export interface ZkConnection {
  /** Hex, as ZooKeeper's own tools print it. */
  readonly sessionId: string;
  readonly isUp: boolean;
  /** Aborts for good when the session has expired, or may have: no answer for a whole session timeout. */
  readonly ended: AbortSignal;
  /** Tells when the link is lost (the session may live on) and when it is back. Returns how to stop that. */
  onLinkChange(listener: (link: "up" | "down") => void): () => void;
  /** @returns the path made, with its sequence number where the mode adds one */
  create(path: string, mode: ZkCreateMode, data?: string): Promise<string>;
  children(path: string): Promise<string[]>;
  /** Sets a one-shot watch for the node's next change. @returns false when there is no such node, and no watch then */
  watch(path: string, changed: () => void): Promise<boolean>;
  /** The node's data. @returns null when there is no such node */
  read(path: string): Promise<string | null>;
  /** @returns null when there is no such node */
  stat(path: string): Promise<ZkStat | null>;
  /** @returns false when there was nothing to remove */
  remove(path: string): Promise<boolean>;
}

export interface ZkStat {
  /** Transaction that made the node: rises with every change of the ensemble, so it serves as a fencing token. */
  readonly czxid: bigint;
  /** Session that owns the node, hex; "0" for a persistent one. */
  readonly ephemeralOwner: string;
}

export type ZkCreateMode = "persistent" | "ephemeral" | "ephemeral-sequential";

export type ZkErrorKind = "unreachable" | "session-ended" | "no-node" | "node-exists" | "refused";

/** `unreachable` and `session-ended` leave open whether the operation happened; the others are the server's word. */
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
