/** A valid request that the lab cannot carry out. Callers test `code`; lib/http maps it to an HTTP status. */
export type LabErrorCode =
  | "run_active"
  | "sweep_active"
  | "run_not_found"
  | "run_not_running"
  | "unknown_strategy"
  | "strategy_unavailable"
  | "target_not_found"
  | "engine_unavailable"
  | "node_unavailable"
  | "too_many_nodes"
  | "too_many_buyers"
  | "invalid_fault"
  | "fault_not_applicable";

export class LabError extends Error {
  override readonly name = "LabError";
  constructor(
    readonly code: LabErrorCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

export function isLabError(error: unknown): error is LabError {
  return error instanceof Error && error.name === "LabError" && "code" in error;
}
