import { env } from "../services/current-env";
import { log } from "../services/log";
import { metrics } from "../services/metrics";

export interface Answered {
  readonly requestId: string;
  readonly method: string;
  /** Pattern of the route, never the path: labels must be few. */
  readonly route: string;
  readonly path: string;
  /** 499: the client left before the answer. */
  readonly status: number;
  /** Error code of the answer, where this process wrote it itself. */
  readonly code: string | null;
  readonly durationMs: number;
  /** A stream is as long as it is. */
  readonly isStream: boolean;
}

/** Refusals that a sale is made of: counted, and not worth a line each. */
const EXPECTED = new Set(["contended", "overloaded", "shutting_down"]);
/** Lines a second; an outage under load is thousands of the same. */
const MAX_LINES_PER_SECOND = 20;

let windowStartMs = 0;
let linesInWindow = 0;
let unwritten = 0;

/** Counts a request, and writes one line if it failed or was slow. */
export function noteAnswer(answered: Answered): void {
  const { route, method, status, durationMs } = answered;
  metrics().requestSeconds.record(`${route}|${method}|${status}`, durationMs / 1_000);
  const failed = status >= 500 && !EXPECTED.has(answered.code ?? "");
  const slow = !answered.isStream && durationMs > env().SLOW_REQUEST_MS;
  if (failed || slow) writeLine(answered, failed ? "request failed" : "slow request");
}

function writeLine({ isStream: _, ...answered }: Answered, message: string): void {
  const nowMs = performance.now();
  if (nowMs - windowStartMs >= 1_000) {
    if (unwritten > 0) log().warn({ unwritten }, "more requests failed or were slow than were written down");
    windowStartMs = nowMs;
    linesInWindow = 0;
    unwritten = 0;
  }
  linesInWindow += 1;
  if (linesInWindow > MAX_LINES_PER_SECOND) {
    unwritten += 1;
    return;
  }
  const line = { ...answered, path: answered.path.slice(0, 200), durationMs: Math.round(answered.durationMs) };
  if (answered.status === 500) log().error(line, message);
  else log().warn(line, message);
}
