/**
 * The contract every lock speaks. Row locks and conditional writes have no lease, so the outer contract is a
 * callback (`runGuarded`); the lease primitive (`lease-runner.ts`) is a smaller port inside.
 *
 * All times are integer milliseconds on a monotonic clock unless a name ends in `AtEpochMs`.
 */

/** Id of a server kind that a strategy needs. PostgreSQL holds the stock, so every strategy needs it too. */
export type ServerId = string;

/** `baseline`, `sql`, or the id of the server kind that holds the lock. */
export type StrategyFamily = string;

/** What the catalogue expects the checkers to conclude while no fault is injected and hold < TTL. */
export type ExpectedVerdict = "safe" | "unsafe";

/** How a strategy fares under a kind of failure: its promise holds, it stops serving, or two buyers get in. */
export type Survival = "survives" | "blocks" | "breaks" | "not-applicable";

/**
 * The one declaration from which conformance tests, dashboard, docs and the expected-verdict table are made.
 */
export interface StrategyTraits {
  readonly id: string;
  readonly family: StrategyFamily;
  /** `lock`: guards the naive read-modify-write. `atomic`: the change is one conditional operation. */
  readonly kind: "lock" | "atomic";
  /** One line: how it works. */
  readonly mechanism: string;
  /** The one word that matters about it, for lists: "unsafe", "lease", "fenced", "herd" ... */
  readonly remark: string;
  readonly needs: readonly ServerId[];
  /** How a contender waits for its turn. */
  readonly waiting: "none" | "queue" | "poll" | "notify" | "row-queue" | "retry";
  /** First come, first served. */
  readonly fair: boolean;
  /** Whose clock ends a dead holder's hold. */
  readonly expiryClock: "none" | "server" | "client" | "session";
  /** Its hold names nobody: a release frees whoever's is there, and no holder looks at its own again. */
  readonly ownerless?: true;
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
  /** Length of the lease, where the strategy has one. */
  readonly ttlMs: number;
  /** Gives up waiting. Never reaches a release. */
  readonly signal?: AbortSignal;
}

/** Proof of a hold, valid inside the critical section only. */
export interface Grant {
  /** Random per acquire; names the holder in the history. */
  readonly holderId: string;
  /** Strictly increasing per resource; null where the strategy has none. */
  readonly fencingToken: bigint | null;
  /** Aborts when the lease is known lost. Never aborts where there is no lease. */
  readonly signal: AbortSignal;
  /** The open transaction, for locks that live inside one (PostgreSQL); null otherwise. */
  readonly tx: unknown;
  /** Enters the same lock again without a new acquire (reentrancy by handle). Throws `lease_lost` once the hold is over. */
  runNested<T>(criticalSection: (grant: Grant) => Promise<T>): Promise<T>;
}

/** Monotonic milliseconds, fractional. */
export interface LockTimings {
  /** From the call to the grant (lock wait; excludes waiting for a pooled connection). */
  readonly waitMs: number;
  /** Waiting for a pooled connection, where the lock needs one of its own; else 0. */
  readonly poolWaitMs: number;
  /** From the grant to the end of the critical section. */
  readonly holdMs: number;
  /** Release round trip. */
  readonly releaseMs: number;
  /** Acquire attempts made, 1 when granted at once. */
  readonly attempts: number;
}

export type LockOutcome<T> =
  | {
      readonly status: "completed";
      readonly value: T;
      /** `held` to the end, `lost` at some point before the release, or `none` where there is no lease. */
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
   * Waits for the lock, runs the critical section, releases.
   * Contention is a value. An error of the critical section is rethrown after the release.
   * @throws {LockError} `backend_unavailable`, `quorum_failed`, `config_invalid`, `outcome_unknown`
   */
  runGuarded<T>(request: LockRequest, criticalSection: (grant: Grant) => Promise<T>): Promise<LockOutcome<T>>;
}
