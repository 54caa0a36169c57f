import { LockError } from "../errors";
import type { ErrorContext } from "./pg-port";

/** The PostgreSQL error codes that the locks distinguish. @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const SQL_STATE = {
  uniqueViolation: "23505",
  checkViolation: "23514",
  serializationFailure: "40001",
  deadlock: "40P01",
  /** NOWAIT found the row locked, or lock_timeout expired. */
  lockNotAvailable: "55P03",
  /** A cancel request, or statement_timeout expired. */
  queryCanceled: "57014",
} as const;

/** The error code of a PostgreSQL error or of its cause; empty if there is none. */
export function sqlStateOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (hasSqlState(error)) return (error as Error & { code: string }).code;
  return sqlStateOf(error.cause);
}

/** True if the server itself sent the error. False for a broken connection or a timeout. */
export function hasSqlState(error: Error): boolean {
  return "severity" in error && /^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? "");
}

/**
 * True if the server rejected the statement and keeps serving the connection: the statement had no effect. Classes 57P
 * (shutdown, crash, terminated) and 08 (connection) replace an answer, so the outcome is unknown.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !hasSqlState(error)) return false;
  const state = sqlStateOf(error);
  return !state.startsWith("57P") && !state.startsWith("08");
}

/** Another transaction held the lock, and the wait expired or was not allowed. */
export function isBusy(error: unknown): boolean {
  const busy: readonly string[] = [SQL_STATE.lockNotAvailable, SQL_STATE.queryCanceled, SQL_STATE.deadlock];
  return busy.includes(sqlStateOf(error));
}

/** A failure before any commit: it certainly changed nothing. */
export function unavailable(error: unknown, errorContext: ErrorContext): LockError {
  const message = `PostgreSQL failed: ${error instanceof Error ? error.message : String(error)}`;
  return new LockError({ ...errorContext, code: "backend_unavailable", message, isDefinite: true, cause: error });
}
