/**
 * The etcd client that the library needs: leases, and a queue of keys in a folder. `openEtcd` uses etcd's JSON gateway;
 * the simulator has another. Every operation is atomic and is answered or fails within a limit.
 */
export interface EtcdCommands extends AsyncDisposable {
  /** @returns the seconds that the server granted: as requested, or its minimum */
  grantLease(lease: { readonly leaseId: bigint; readonly ttlSeconds: number }): Promise<number>;
  /** Extends the lease to its full length. @returns its length in seconds; 0 if the lease does not exist */
  keepLeaseAlive(leaseId: bigint): Promise<number>;
  /** Ends the lease and deletes its keys. @returns false if the lease does not exist */
  revokeLease(leaseId: bigint): Promise<boolean>;
  /**
   * Creates the key at the end of the folder's queue. The key lives as long as its lease. If the key exists (the reply
   * to an earlier request was lost), returns its position.
   * @throws {EtcdError} `no-lease` if the lease has ended
   */
  enqueue(entry: { readonly folder: string; readonly key: string; readonly leaseId: bigint }): Promise<QueuePosition>;
  /**
   * Reads the current position of a queued key. Cheap while its predecessor still exists.
   * @returns null if the key is gone
   */
  findPosition(queued: {
    readonly folder: string;
    readonly key: string;
    readonly position: QueuePosition;
  }): Promise<QueuePosition | null>;
  /** @returns false if the key does not exist */
  removeKey(key: string): Promise<boolean>;
  /**
   * Resolves with true when the key is deleted after that revision, and with false if the signal aborts or the watch is
   * lost first. Never rejects: the waiter checks the queue again anyway.
   */
  untilDeleted(watch: {
    readonly key: string;
    readonly afterRevision: bigint;
    readonly signal: AbortSignal;
  }): Promise<boolean>;
}

export interface QueuePosition {
  /** Revision that created the key. It orders the queue and rises with every change of the cluster. */
  readonly createRevision: bigint;
  /** The key directly before this one; null if this one is first. */
  readonly predecessor: string | null;
  /** Revision at which the position was read. */
  readonly revision: bigint;
}

/**
 * `unreachable`: no answer, or the server cannot serve now; a change may have happened. `no-lease`: the lease has
 * ended. `refused`: the request is invalid and would fail again.
 */
export type EtcdErrorKind = "unreachable" | "no-lease" | "refused";

export class EtcdError extends Error {
  override readonly name = "EtcdError";
  readonly kind: EtcdErrorKind;

  constructor(kind: EtcdErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

export function isEtcdError(error: unknown, ...kinds: EtcdErrorKind[]): error is EtcdError {
  if (!(error instanceof Error) || error.name !== "EtcdError") return false;
  return kinds.length === 0 || kinds.includes((error as EtcdError).kind);
}

declare module "../lock-entry" {
  interface LockDependencies {
    /** `openEtcd(url)`. */
    etcd(): EtcdCommands;
  }
}
