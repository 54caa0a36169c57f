/**
 * All the library asks of etcd: leases, and a queue of keys under a folder. The real one (`openEtcd`) speaks etcd's JSON
 * gateway; the simulator brings its own. Every operation is answered or fails within a bound; each is atomic.
 */
export interface EtcdCommands extends AsyncDisposable {
  /** @returns the seconds the server granted: as many as asked for, or its own minimum */
  grantLease(lease: { readonly leaseId: bigint; readonly ttlSeconds: number }): Promise<number>;
  /** Gives the lease its full length again. @returns its length in seconds; 0 when there is no such lease */
  keepLeaseAlive(leaseId: bigint): Promise<number>;
  /** Ends the lease, and with it its keys. @returns false when there was no such lease */
  revokeLease(leaseId: bigint): Promise<boolean>;
  /**
   * Makes the key at the end of the folder's queue; it lives as long as its lease. Where the key is there already (the reply
   * to an earlier request was lost), its place is the answer.
   * @throws {EtcdError} `no-lease` when the lease has ended
   */
  enqueue(place: { readonly folder: string; readonly key: string; readonly leaseId: bigint }): Promise<QueuePosition>;
  /**
   * Looks where a queued key stands now. Cheap while its predecessor is still there.
   * @returns null when the key is gone
   */
  findPosition(queued: {
    readonly folder: string;
    readonly key: string;
    readonly place: QueuePosition;
  }): Promise<QueuePosition | null>;
  /** @returns false when there was nothing to remove */
  removeKey(key: string): Promise<boolean>;
  /**
   * Resolves with true once the key is deleted after that revision; with false when the signal aborts, and when the
   * watch is lost before it could tell. Never rejects: whoever waits looks again anyway.
   */
  untilDeleted(watch: {
    readonly key: string;
    readonly afterRevision: bigint;
    readonly signal: AbortSignal;
  }): Promise<boolean>;
}

export interface QueuePosition {
  /** Revision that made the key: orders the queue, and rises with every change of the cluster. */
  readonly createRevision: bigint;
  /** The key right before; null when first. */
  readonly predecessor: string | null;
  /** Revision at which this was so. */
  readonly revision: bigint;
}

/**
 * `unreachable`: no answer, or one that the server cannot serve now; a change may have happened. `no-lease`: the lease
 * has ended. `refused`: the request is wrong and will be wrong again.
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
