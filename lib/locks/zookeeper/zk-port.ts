/**
 * All the library asks of a ZooKeeper client. The real one (`openZkSession`) wraps node-zookeeper-client; the
 * simulator brings its own.
 */
export interface ZkSession extends AsyncDisposable {
  /**
   * The connection in use, opening one (a new session, if the last one ended) where needed.
   * @throws {ZkError} `unreachable` when none is up within the limit
   */
  connected(limitMs: number): Promise<ZkConnection>;
}

/** One ZooKeeper session. Its nodes die with it. */
export interface ZkConnection {
  /** Hex, as ZooKeeper's own tools print it. */
  readonly sessionId: string;
  /** Aborts for good when the session has ended, or may have: expired, or silent for too long. */
  readonly ended: AbortSignal;
  readonly isUp: boolean;
  /** Calls back once when the link is lost (the session may live on). Returns how to take it back. */
  onSuspended(listener: () => void): () => void;
  /** @returns the path made, with its sequence number where the mode adds one */
  create(path: string, mode: ZkCreateMode): Promise<string>;
  children(path: string): Promise<string[]>;
  /** Sets a one-shot watch for any change of the node. @returns false when there is no such node (then no watch is left) */
  watch(path: string, changed: () => void): Promise<boolean>;
  /** What created the node, or null when it is gone: zxid for fencing, session for ownership. */
  stat(path: string): Promise<ZkStat | null>;
  /** @returns false when there was nothing to delete */
  remove(path: string): Promise<boolean>;
}

export interface ZkStat {
  readonly czxid: bigint;
  readonly ephemeralOwner: string;
}

export type ZkCreateMode = "persistent" | "ephemeral" | "ephemeral-sequential";

/** `unreachable`: no answer, so the operation may have happened. The others are the server's definite word. */
export class ZkError extends Error {
  override readonly name = "ZkError";
  readonly kind: "unreachable" | "session-ended" | "no-node" | "node-exists" | "other";

  constructor(kind: ZkError["kind"], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
