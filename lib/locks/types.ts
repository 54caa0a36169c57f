/**
 * The contract of every lock. Row locks and conditional writes have no lease, so the outer contract is a callback
 * (`runGuarded`). Strategies with a lease implement a smaller inner port, `lease-backend.ts`.
 *
 * All times are integer milliseconds on a monotonic clock unless a name ends in `AtEpochMs`.
 */

/** Id of a server kind that a strategy needs. PostgreSQL holds the stock, so every strategy needs it too. */
export type ServerId = string;

/** `baseline`, `sql`, or the id of the server kind that holds the lock. */
export type StrategyFamily = string;

/** The verdict that the checkers must reach while no fault is injected and the hold is shorter than the TTL. */
export type ExpectedVerdict = "safe" | "unsafe";

/** What a failure does to a strategy: it stays safe, it blocks, or it lets two holders in. */
export type Survival = "survives" | "blocks" | "breaks" | "not-applicable";

/** The one declaration from which conformance tests, dashboard, docs and the expected-verdict table are generated. */
export interface StrategyTraits {
  readonly id: string;
  readonly family: StrategyFamily;
  /** `lock`: guards the naive read-modify-write. `atomic`: the change is one conditional operation. */
  readonly kind: "lock" | "atomic";
  /** How it works, in one line. */
  readonly mechanism: string;
  /** The most important property in one or two words, for lists: "unsafe", "lease", "fenced", "herd". */
  readonly remark: string;
  readonly needs: readonly ServerId[];
  /** How a waiter waits for its turn. */
  readonly waiting: "none" | "queue" | "poll" | "notify" | "row-queue" | "retry";
  /** First come, first served. */
  readonly fair: boolean;
  /** The clock that ends the hold of a crashed holder. */
  readonly expiryClock: "none" | "server" | "client" | "session";
  /**
   * The stored value does not identify the holder: a release deletes the key of any holder, and a holder never checks
   * its lease.
   */
  readonly ownerless?: true;
  /** A grant waits until this many replicas have the lock, so that it survives the promotion of one of them. Absent: 0. */
  readonly replicasToWaitFor?: number;
  /** The lock belongs to a session of the database, which keeps it after the transaction that acquired it. */
  readonly heldBySession?: true;
  /** Where the fencing token comes from; null when there is none. */
  readonly fencingSource: string | null;
  readonly expected: { readonly alone: ExpectedVerdict; readonly threeNodes: ExpectedVerdict };
  readonly survives: {
    readonly holderCrash: Survival;
    readonly holderPause: Survival;
    readonly serverRestart: Survival;
  };
}

export interface LockRequest {
  /** What is guarded, for example `product:42`. 1 to 200 characters of `[A-Za-z0-9:_.-]`. */
  readonly resource: string;
  /** How long to wait for the lock; 0 tries once. */
  readonly waitTimeoutMs: number;
  /** Length of the lease, where the strategy has one. A hold with an operation in flight (`mayBeInFlight`) also lasts this long. */
  readonly ttlMs: number;
  /** Stops the wait. Never passed to a release. */
  readonly signal?: AbortSignal;
}

/** Proof of a hold, valid inside the critical section only. */
export interface Grant {
  /** Random per acquire. Identifies the holder in the history. */
  readonly holderId: string;
  /** Strictly increasing per resource; null where the strategy has none. */
  readonly fencingToken: bigint | null;
  /** Aborts when the runner detects that the lease is lost. Never aborts when there is no lease. */
  readonly signal: AbortSignal;
  /**
   * Milliseconds until the lease ends unless it is renewed; negative once it has ended, even if the runner has not noticed.
   * Infinity if no clock ends the hold.
   */
  leaseLeftMs(): number;
  /** The open transaction, for locks that live inside one (PostgreSQL); null otherwise. */
  readonly tx: unknown;
  /** Runs a nested section under the same hold (reentrancy by handle). Throws `lease_lost` once the hold has ended. */
  runNested<T>(criticalSection: (grant: Grant) => Promise<T>): Promise<T>;
}

/** Monotonic milliseconds, fractional. */
export interface LockTimings {
  /** From the call to the grant (lock wait; excludes waiting for a pooled connection). */
  readonly waitMs: number;
  /** Time spent waiting for a pooled connection, if the lock needs one. Otherwise 0. */
  readonly poolWaitMs: number;
  /** From the grant to the end of the critical section. */
  readonly holdMs: number;
  /** Release round trip. */
  readonly releaseMs: number;
  /** Acquire attempts: 1 if the first one was granted. */
  readonly attempts: number;
}

export type LockOutcome<T> =
  | {
      readonly status: "completed";
      readonly value: T;
      /** `held` until the release, `lost` before it, or `none` if there is no lease. */
      readonly lease: "held" | "lost" | "none";
      readonly timings: LockTimings;
    }
  | {
      readonly status: "contended";
      readonly waitedMs: number;
      readonly attempts: number;
    };

export interface LockStrategy extends AsyncDisposable {
  readonly id: string;
  readonly traits: StrategyTraits;
  /**
   * Waits for the lock, runs the critical section and releases the lock.
   * Contention is a value. An error thrown by the critical section is rethrown after the release. If it has
   * `mayBeInFlight`, it is rethrown at once, and the release follows after `ttlMs`.
   * @throws {LockError} `backend_unavailable`, `quorum_failed`, `config_invalid`, `outcome_unknown`
   */
  runGuarded<T>(request: LockRequest, criticalSection: (grant: Grant) => Promise<T>): Promise<LockOutcome<T>>;
}
