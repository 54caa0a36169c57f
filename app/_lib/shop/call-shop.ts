import { NOT_SENT, type ShopAnswer } from "./answer";
import type { ClockSample } from "./clock";

/** Sends requests of the shop's pages. `callShop` never throws: a failed request is a `ShopAnswer` too. */

export interface ShopCall {
  readonly path: string;
  readonly method?: "GET" | "POST" | "PUT";
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

/** After this timeout, the page retries with the same key. The purchase may wait longer for its lock. */
const REQUEST_TIMEOUT_MS = 15_000;

/** Time of this device, unaffected by clock changes while the page is open. */
export function deviceEpochMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Observer of all requests: gets the lab's time and whether the shop answers. */
export interface CallObserver {
  readonly onTime: (sample: ClockSample) => void;
  readonly onReachable: (answered: boolean) => void;
}

let observer: CallObserver | null = null;

/** @returns a function that stops observing */
export function observeCalls(added: CallObserver): () => void {
  observer = added;
  return () => {
    if (observer === added) observer = null;
  };
}

export async function callShop({ path, method = "GET", body, idempotencyKey }: ShopCall): Promise<ShopAnswer> {
  const sentAtEpochMs = deviceEpochMs();
  try {
    const response = await fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const dateEpochMs = Date.parse(response.headers.get("date") ?? "");
    if (!Number.isNaN(dateEpochMs))
      observer?.onTime({ sentAtEpochMs, receivedAtEpochMs: deviceEpochMs(), dateEpochMs });
    const answer = answerOf(response, await response.json().catch(() => null));
    // Only reads show whether the page can load its data.
    if (method === "GET") observer?.onReachable(response.status < 500);
    return answer;
  } catch (error) {
    observer?.onReachable(false);
    return noAnswer(error);
  }
}

export function answerOf(response: Pick<Response, "status" | "headers">, body: unknown): ShopAnswer {
  const { status, headers } = response;
  const error = (body as { error?: { code?: unknown; message?: unknown; details?: unknown } } | null)?.error;
  const details = typeof error?.details === "object" && error.details !== null ? error.details : {};
  return {
    status,
    code: status < 400 ? "ok" : typeof error?.code === "string" ? error.code : "unexpected",
    message: typeof error?.message === "string" ? error.message : `The shop answered ${status}.`,
    body,
    details: details as Record<string, unknown>,
    retryAfterMs: retryAfterMs(headers.get("retry-after"), details as Record<string, unknown>),
    node: headers.get("x-store-node"),
    strategy: headers.get("x-lock-strategy"),
    isReplayed: headers.get("idempotent-replayed") === "true",
  };
}

/** Prefers `details.retryAfterMs`, because the header has whole seconds only. */
function retryAfterMs(header: string | null, details: Readonly<Record<string, unknown>>): number | null {
  if (typeof details.retryAfterMs === "number") return details.retryAfterMs;
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null;
}

function noAnswer(error: unknown): ShopAnswer {
  const isLate = error instanceof DOMException && error.name === "TimeoutError";
  const message = isLate ? `No response within ${REQUEST_TIMEOUT_MS / 1_000} s.` : "The shop does not answer.";
  return { ...NOT_SENT, code: isLate ? "no_answer" : "unreachable", message };
}
