import type { Clock } from "./clock";
import type { RandomSource } from "./random";
import type { StrategyTraits } from "./types";

/**
 * The inner port: what a strategy implements. It only knows how to try, renew and free; waiting, retry, renewal,
 * abort and release belong to the runner, so that strategies differ in nothing but what they are meant to differ in.
 */
export interface LeaseBackend {
  readonly traits: StrategyTraits;
  /**
   * What ends a hold whose holder is gone. `ttl`: the clock, `ttlMs` after the request was sent; the runner watches
   * the validity. `session`: the connection; the contender calls `declareLost`. `none`: nothing does.
   * `unwatched`: a clock, and the holder never looks at its own, as in much real code: no validity, no loss signalled.
   */
  readonly leaseKind: "ttl" | "session" | "none" | "unwatched";
  /** A try may take as long as the caller's wait, because the server itself queues callers (`TryLimits.waitLimitMs`). */
  readonly waitsInTry?: boolean;
  /** A contender for one grant. Does no I/O. */
  createHandle(context: HandleContext): LockHandle;
  /** Frees what the backend itself made. Injected clients belong to whoever injected them. */
  close?(): Promise<void>;
}

/** What a contender needs to know, and the one thing it tells the runner unasked. */
export interface HandleContext {
  readonly resource: string;
  /** Random per contender; the value the server keeps for the hold. */
  readonly holderId: string;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** The hold is known to be gone: `grant.signal` aborts. Idempotent; harmless before the grant and after the release. */
  declareLost(reason: unknown): void;
}

/**
 * One contender for one resource, from its first try to its release. The runner calls one method at a time, with these
 * exceptions: `release` may come while a try that took too long is still unanswered, and once more when that
 * try turns out to have been granted; such a contender is never tried again: the runner enters a new one. And sections
 * nested in a hold call `enterNested` and `leaveNested` at any time before its release.
 */
export interface LockHandle {
  /**
   * One try. Resolves with what the server said; throws when it said nothing (a LockError where the reason is known).
   * @param limits.waitLimitMs what is left of the caller's wait, for servers that queue callers themselves
   */
  tryAcquire(limits: TryLimits): Promise<TryReply>;
  /**
   * Resolves when another try may succeed, and when the signal aborts (then it has dropped its listeners).
   * Absent: the runner polls with jittered backoff.
   */
  waitForTurn?(signal: AbortSignal): Promise<void>;
  /** For clients that wait for their link instead of failing: true while they know that it is down. */
  readonly isDisconnected?: boolean;
  /** Extends the hold by `ttlMs` from now, if it is still ours. Throws when the server does not say. */
  renew?(): Promise<"renewed" | "lost">;
  /** Counts one more entry by the same holder, for locks whose server keeps that count. Called while the hold lasts. */
  enterNested?(): Promise<"held" | "lost">;
  /** Takes one such entry back. `release` takes back what is left of them. */
  leaveNested?(): Promise<void>;
  /**
   * Makes the critical section's work durable, for locks that live in a transaction. Called after a section that did
   * not throw; its failure is the call's failure.
   */
  commit?(): Promise<void>;
  /**
   * Frees the hold, leaves the queue, undoes a try whose outcome is not known: whatever may be out there is gone
   * afterwards. Does nothing when nothing can be. Frees nobody else's hold.
   * @returns `not_held` when the server says that the hold was gone already
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
  /** The open transaction the lock lives in. */
  readonly tx?: unknown;
  /** Time of this try spent on a pooled connection. */
  readonly poolWaitMs?: number;
  /** Lease length from the moment the request was sent, where the server rounds `ttlMs` down. */
  readonly validForMs?: number;
}

export interface HeldReply {
  readonly status: "held";
  /** Time of this try spent on a pooled connection. */
  readonly poolWaitMs?: number;
}
