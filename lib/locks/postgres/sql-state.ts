import { LockError } from "../errors";
import type { StrategyUnderTest } from "./pg-port";

/** PostgreSQL's error codes that mean something here. @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const SQL_STATE = {
  uniqueViolation: "23505",
  checkViolation: "23514",
  serializationFailure: "40001",
  deadlock: "40P01",
  /** NOWAIT met a lock, or lock_timeout was over. */
  lockNotAvailable: "55P03",
  /** A cancel request, or statement_timeout was over. */
  queryCanceled: "57014",
} as const;

/** The code of an error of PostgreSQL, or of the one that caused it; empty when there is none. */
export function sqlStateOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (hasSqlState(error)) return (error as Error & { code: string }).code;
  return sqlStateOf(error.cause);
}

/** True when the server itself answered with an error, as opposed to a broken connection or a wait that was over. */
export function hasSqlState(error: Error): boolean {
  return "severity" in error && /^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? "");
}

/**
 * True when the server refused the statement and goes on serving this connection: then nothing of it has happened.
 * Classes 57P (shutdown, crash, terminated) and 08 (connection) come instead of an answer, not as one.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !hasSqlState(error)) return false;
  const state = sqlStateOf(error);
  return !state.startsWith("57P") && !state.startsWith("08");
}

/** The statement met somebody else's lock, and its wait was over or none was allowed. */
export function isBusy(error: unknown): boolean {
  const busy: readonly string[] = [SQL_STATE.lockNotAvailable, SQL_STATE.queryCanceled, SQL_STATE.deadlock];
  return busy.includes(sqlStateOf(error));
}

/** A failure before anything could be committed: it certainly changed nothing. */
export function unavailable(error: unknown, subject: StrategyUnderTest): LockError {
  const message = `PostgreSQL failed: ${error instanceof Error ? error.message : String(error)}`;
  return new LockError({ ...subject, code: "backend_unavailable", message, isDefinite: true, cause: error });
}
