import { NOT_SENT, type ShopAnswer } from "./answer";
import type { ClockSample } from "./clock";

/** One request of a shop page. It never throws: no answer is an answer too. */

export interface ShopCall {
  readonly path: string;
  readonly method?: "GET" | "POST" | "PUT";
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

/** A page gives up here and asks again with the same key; the purchase itself may wait longer for its lock. */
const REQUEST_LIMIT_MS = 15_000;

/** This device's clock, which nobody sets while the page is open. */
export function deviceEpochMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Who wants to know of every request: what time the lab has, and whether it can be reached. */
export interface CallListener {
  readonly onTime: (sample: ClockSample) => void;
  readonly onReach: (answered: boolean) => void;
}

let listener: CallListener | null = null;

/** @returns what ends it */
export function observeCalls(to: CallListener): () => void {
  listener = to;
  return () => {
    if (listener === to) listener = null;
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
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const dateEpochMs = Date.parse(response.headers.get("date") ?? "");
    if (!Number.isNaN(dateEpochMs))
      listener?.onTime({ sentAtEpochMs, receivedAtEpochMs: deviceEpochMs(), dateEpochMs });
    const answer = answerOf(response, await response.json().catch(() => null));
    // What a purchase was answered says nothing of whether the figures on the page can be had.
    if (method === "GET") listener?.onReach(response.status < 500);
    return answer;
  } catch (error) {
    listener?.onReach(false);
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

/** The header is in whole seconds; where the answer is more exact, it is believed. */
function retryAfterMs(header: string | null, details: Readonly<Record<string, unknown>>): number | null {
  if (typeof details.retryAfterMs === "number") return details.retryAfterMs;
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null;
}

function noAnswer(error: unknown): ShopAnswer {
  const isLate = error instanceof DOMException && error.name === "TimeoutError";
  const message = isLate ? `No answer within ${REQUEST_LIMIT_MS / 1_000} s.` : "The shop does not answer.";
  return { ...NOT_SENT, code: isLate ? "no_answer" : "unreachable", message };
}
