/** What can go wrong with a lock. Contention is not among them: it is a value (`LockOutcome`). */
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
  /** False means that the operation may have happened all the same. */
  readonly isDefinite: boolean;
  readonly cause?: unknown;
  /** Per-server answers of a quorum, in the order of the servers. */
  readonly votes?: readonly QuorumVote[];
}

export interface QuorumVote {
  readonly server: string;
  readonly vote: "granted" | "held" | "unreachable" | "late";
  readonly reason?: string;
}

/**
 * The one error type of the library. Test `code`, not `instanceof`: bundlers may load the class twice.
 */
export class LockError extends Error {
  override readonly name = "LockError";
  readonly code: LockErrorCode;
  readonly strategyId: string;
  readonly resource: string;
  readonly isDefinite: boolean;
  readonly votes: readonly QuorumVote[] | undefined;

  constructor(options: LockErrorOptions) {
    super(`${options.strategyId} on ${options.resource}: ${options.message}`, { cause: options.cause });
    this.code = options.code;
    this.strategyId = options.strategyId;
    this.resource = options.resource;
    this.isDefinite = options.isDefinite;
    this.votes = options.votes;
  }
}

/** True for a LockError of any copy of this module. */
export function isLockError(error: unknown): error is LockError {
  return error instanceof Error && error.name === "LockError" && typeof (error as LockError).code === "string";
}
