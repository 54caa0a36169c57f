/** The one error shape of the lab's API, as the page shows it. */
export interface ApiProblem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The field the API names, where it names one. */
  readonly field: string | null;
  /** The run that is in the way (409 `run_active`). */
  readonly runId: string | null;
}

export type ApiResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: ApiProblem };

/** No request of the page waits longer. */
const REQUEST_LIMIT_MS = 15_000;

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Reads `{"error": {...}}`; anything else becomes a problem with the status in words. */
export function problemOf(status: number, body: unknown): ApiProblem {
  const error = (body as { error?: Record<string, unknown> } | null)?.error;
  const details = error?.details as Record<string, unknown> | null | undefined;
  return {
    status,
    code: text(error?.code) ?? "unexpected",
    message: text(error?.message) ?? `The lab answered ${status} without saying why.`,
    field: text(details?.field),
    runId: text(details?.runId),
  };
}

/** A sentence for an error, with the field it is about. */
export function problemSentence(problem: ApiProblem): string {
  return problem.field === null || problem.message.includes(problem.field)
    ? problem.message
    : `${problem.field}: ${problem.message}`;
}

function unreachable(error: unknown): ApiProblem {
  const late = error instanceof DOMException && error.name === "TimeoutError";
  return {
    status: 0,
    code: late ? "no_answer" : "unreachable",
    message: late
      ? `The lab did not answer within ${REQUEST_LIMIT_MS / 1000} s.`
      : "The lab does not answer. Is `npm start` still running?",
    field: null,
    runId: null,
  };
}

/** The message without the field's name before it, for showing beside that field. */
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
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const body: unknown = response.status === 204 ? null : await response.json().catch(() => null);
    return response.ok ? { ok: true, value: body as T } : { ok: false, problem: problemOf(response.status, body) };
  } catch (error) {
    return { ok: false, problem: unreachable(error) };
  }
}
