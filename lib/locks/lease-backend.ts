import type { Clock } from "./clock";
import type { RandomSource } from "./random";
import type { StrategyTraits } from "./types";

/**
 * The inner port that a strategy implements. A backend acquires, renews and releases. The runner owns waiting, retry,
 * renewal, abort and the timing of the release, so strategies differ only in their protocol.
 */
export interface LeaseBackend {
  readonly traits: StrategyTraits;
  /**
   * What ends the hold of a crashed holder.
   * - `ttl`: the lease expires `ttlMs` after the request was sent. The runner tracks its validity.
   * - `session`: the connection ends. The handle calls `declareLost`.
   * - `none`: the hold never expires.
   * - `unwatched`: the lease expires on a clock, but the holder does not check it, as in much real code. No loss is
   *   signalled.
   */
  readonly leaseKind: "ttl" | "session" | "none" | "unwatched";
  /** The server queues callers itself, so one try may last as long as the caller may wait (`TryLimits.waitLimitMs`). */
  readonly waitsInTry?: boolean;
  /** Creates the handle for one grant. Does no I/O. */
  createHandle(context: HandleContext): LockHandle;
  /** Closes what the backend itself created. The caller closes the clients that it injected. */
  close?(): Promise<void>;
}

/** What the runner gives to a handle. */
export interface HandleContext {
  readonly resource: string;
  /** Random per handle: the value the server stores for the hold. */
  readonly holderId: string;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly random: RandomSource;
  /**
   * Reports that the hold is lost: `grant.signal` aborts. Idempotent. No effect before the grant or after the release.
   */
  declareLost(reason: unknown): void;
}

/**
 * One contender for one resource, from its first try to its release. The runner calls one method at a time, with two
 * exceptions. It may call `release` while a try that exceeded its limit is still pending, and again if that try is
 * granted later; it then discards the handle. Nested sections may call `enterNested` and `leaveNested` concurrently
 * before the release.
 */
export interface LockHandle {
  /**
   * One try. Resolves with the server's answer. Throws if there is no answer (a LockError if the cause is known).
   * @param limits.waitLimitMs the rest of the caller's wait, for servers that queue callers themselves
   */
  tryAcquire(limits: TryLimits): Promise<TryReply>;
  /**
   * Resolves when another try may succeed, or when the signal aborts (after removing its listeners). If absent, the
   * runner polls with jittered backoff.
   */
  waitForTurn?(signal: AbortSignal): Promise<void>;
  /** For clients that wait for their connection instead of failing: true while the connection is down. */
  readonly isDisconnected?: boolean;
  /** Extends the hold to `ttlMs` from now if this handle still owns it. Throws if the server does not answer. */
  renew?(): Promise<"renewed" | "lost">;
  /** Increments the server-side hold count, for locks that have one. Called while the hold lasts. */
  enterNested?(): Promise<"held" | "lost">;
  /** Decrements the hold count. `release` removes any remaining entries. */
  leaveNested?(): Promise<void>;
  /**
   * Makes the work of the critical section durable, for locks that live in a transaction. Called after a section that
   * did not throw. If it fails, the call fails.
   * @param limitMs how long the call may still last; without an answer until then, throws `outcome_unknown`
   */
  commit?(limitMs: number): Promise<void>;
  /**
   * Releases the hold, leaves the queue and undoes a try whose outcome is unknown, so nothing of this handle remains on
   * the server. No effect if there is nothing to undo. Never releases the hold of another handle.
   * @returns `not_held` if the server reports that the hold had already ended
   */
  release(): Promise<"released" | "not_held">;
}

export interface TryLimits {
  readonly waitLimitMs: number;
  /** Aborts when the runner stops waiting for this try. */
  readonly signal: AbortSignal;
}

export type TryReply = GrantedReply | HeldReply;

export interface GrantedReply {
  readonly status: "granted";
  readonly fencingToken?: bigint;
  /** The open transaction that contains the lock. */
  readonly tx?: unknown;
  /** Time this try spent waiting for a pooled connection. */
  readonly poolWaitMs?: number;
  /** Lease length counted from the send time of the request, if the server rounds `ttlMs` down. */
  readonly validForMs?: number;
}

export interface HeldReply {
  readonly status: "held";
  /** Time this try spent waiting for a pooled connection. */
  readonly poolWaitMs?: number;
}
