/** Error codes of the library. Contention is not an error: it is a value (`LockOutcome`). */
export type LockErrorCode =
  | "config_invalid"
  | "backend_unavailable"
  | "quorum_failed"
  | "lease_lost"
  | "fence_stale"
  | "outcome_unknown"
  | "aborted";

export interface LockErrorOptions {
  readonly code: LockErrorCode;
  readonly strategyId: string;
  readonly resource: string;
  readonly message: string;
  /** False means that the operation may still have happened. */
  readonly isDefinite: boolean;
  /** True: a server may still be executing the operation, so it can take effect after this error. Default: false. */
  readonly mayBeInFlight?: boolean;
  readonly cause?: unknown;
  /** The answer of each server in a quorum, in server order. */
  readonly votes?: readonly QuorumVote[];
}

export interface QuorumVote {
  readonly server: string;
  readonly vote: "granted" | "held" | "unreachable" | "late";
  readonly reason?: string;
}

/**
 * The one error type of the library. Test `code`, not `instanceof`: a bundler may load the class twice.
 */
export class LockError extends Error {
  override readonly name = "LockError";
  readonly code: LockErrorCode;
  readonly strategyId: string;
  readonly resource: string;
  readonly isDefinite: boolean;
  /** If the critical section of a lock throws such an error, the hold stays until its lease has run out. */
  readonly mayBeInFlight: boolean;
  readonly votes: readonly QuorumVote[] | undefined;

  constructor(options: LockErrorOptions) {
    super(`${options.strategyId} on ${options.resource}: ${options.message}`, { cause: options.cause });
    this.code = options.code;
    this.strategyId = options.strategyId;
    this.resource = options.resource;
    this.isDefinite = options.isDefinite;
    this.mayBeInFlight = options.mayBeInFlight ?? false;
    this.votes = options.votes;
  }
}

/** True for a LockError from any copy of this module. */
export function isLockError(error: unknown): error is LockError {
  return error instanceof Error && error.name === "LockError" && typeof (error as LockError).code === "string";
}
