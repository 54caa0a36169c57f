import { isLockError } from "../locks/errors";
import { rowRejectionOf } from "./row-rejection";
import type { OperationTrace } from "./types";

/**
 * Records that the last attempt changed nothing. Checkers read a missing `writeAccepted` as "may have changed the stock", and a
 * value beside `false` as "the counter gave the units, and the row rejected the order".
 */
export function recordLostWrite(trace: OperationTrace): void {
  trace.writeAccepted = false;
  delete trace.writtenValue;
}

/** Removes the result of an earlier attempt before the next write: if its reply is lost, the result is unknown. */
export function clearWriteResult(trace: OperationTrace): void {
  delete trace.writeAccepted;
}

/** Records a failed statement as a lost write if it certainly changed nothing. */
export function recordFailedWrite(trace: OperationTrace, error: unknown): void {
  if (rowRejectionOf(error) || (isLockError(error) && error.isDefinite)) recordLostWrite(trace);
}
