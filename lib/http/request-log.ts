import { env } from "../services/current-env";
import { log } from "../services/log";
import { metrics } from "../services/metrics";
import { type ErrorCode, errorTable, isServerError } from "./error-table";

export interface Answered {
  readonly requestId: string;
  /** Its IP address. */
  readonly client: string;
  readonly method: string;
  /** The route's path with parameter names, because metrics labels must have few values. */
  readonly route: string;
  readonly path: string;
  /** 499: the client closed its connection before the answer. */
  readonly status: number;
  /** The answer's error code. */
  readonly code: ErrorCode | null;
  readonly durationMs: number;
  /** A stream is never a slow request. */
  readonly isStream: boolean;
}

/** A sale produces these by the thousand, so they are counted and not logged. */
const EXPECTED: ReadonlySet<ErrorCode | null> = new Set(["contended", "overloaded", "shutting_down"] as const);
/** An outage under load produces thousands of equal lines. */
const MAX_LINES_PER_SECOND = 20;

let windowStartMs = 0;
let linesInWindow = 0;
let suppressed = 0;

/** Counts a request, and logs it if it failed or was slow. */
export function noteAnswer(answered: Answered): void {
  const { route, method, status, durationMs } = answered;
  metrics().requestSeconds.record(`${route}|${method}|${status}`, durationMs / 1_000);
  const failed = isServerError(status) && !EXPECTED.has(answered.code);
  const slow = !answered.isStream && durationMs > env().SLOW_REQUEST_MS;
  if (failed || slow) writeLine(answered, failed ? "request failed" : "slow request");
}

function writeLine({ isStream: _, ...answered }: Answered, message: string): void {
  const nowMs = performance.now();
  if (nowMs - windowStartMs >= 1_000) {
    if (suppressed > 0) log().warn({ suppressed }, "further failed or slow requests were not logged");
    windowStartMs = nowMs;
    linesInWindow = 0;
    suppressed = 0;
  }
  linesInWindow += 1;
  if (linesInWindow > MAX_LINES_PER_SECOND) {
    suppressed += 1;
    return;
  }
  const line = { ...answered, path: answered.path.slice(0, 200), durationMs: Math.round(answered.durationMs) };
  if (answered.status === errorTable.internal_error.status) log().error(line, message);
  else log().warn(line, message);
}
