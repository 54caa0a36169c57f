/** An error response of the lab's API. */
export interface ApiProblem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The request field that the error names; null if it names none. */
  readonly field: string | null;
  /** The active run that prevents a new one (409 `run_active`). */
  readonly runId: string | null;
}

export type ApiResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: ApiProblem };

/** Timeout of every request that a page sends. */
const REQUEST_TIMEOUT_MS = 15_000;

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Reads `{"error": {...}}`; for any other body, the message names the status. */
export function problemOf(status: number, body: unknown): ApiProblem {
  const error = (body as { error?: Record<string, unknown> } | null)?.error;
  const details = error?.details as Record<string, unknown> | null | undefined;
  return {
    status,
    code: text(error?.code) ?? "unexpected",
    message:
      text(error?.message) ?? `The lab answered ${status} without a reason. The dashboard's log has the details.`,
    field: text(details?.field),
    runId: text(details?.runId),
  };
}

/** The message of an error, preceded by its field if the message does not name it. */
export function problemSentence(problem: ApiProblem): string {
  return problem.field === null || problem.message.includes(problem.field)
    ? problem.message
    : `${problem.field}: ${problem.message}`;
}

function unreachable(error: unknown): ApiProblem {
  const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
  return {
    status: 0,
    code: isTimeout ? "no_answer" : "unreachable",
    message: isTimeout
      ? `The lab did not answer within ${REQUEST_TIMEOUT_MS / 1000} s. Try again.`
      : "The lab does not answer. Is `npm start` still running?",
    field: null,
    runId: null,
  };
}

/** The message without the leading field name, for display beside that field. */
export function messageBesideField({ field, message }: ApiProblem): string {
  return field !== null && message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
}

export async function callApi<T>(path: string, init: { method?: string; body?: unknown } = {}): Promise<ApiResult<T>> {
  try {
    const response = await fetch(path, {
      method: init.method ?? "GET",
      headers: init.body === undefined ? {} : { "content-type": "application/json" },
      body: init.body === undefined ? null : JSON.stringify(init.body),
      cache: "no-store",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const body: unknown = response.status === 204 ? null : await response.json().catch(() => null);
    return response.ok ? { ok: true, value: body as T } : { ok: false, problem: problemOf(response.status, body) };
  } catch (error) {
    return { ok: false, problem: unreachable(error) };
  }
}
