/** A response of the shop and its classification. */

export interface ShopAnswer {
  /** 0: no response. */
  readonly status: number;
  /** Error code; `ok` for success; `unreachable` or `no_answer` without a response; `offline` if nothing was sent. */
  readonly code: string;
  readonly message: string;
  readonly body: unknown;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | null;
  /** Node and strategy that served it; null if the response does not name them. */
  readonly node: string | null;
  readonly strategy: string | null;
  /** The shop repeated the response of an earlier request with the same key. */
  readonly isReplayed: boolean;
}

/**
 * - `completed`: the purchase, claim or payment succeeded
 * - `rejected`: nothing changed, and a retry would get the same response
 * - `retryable`: nothing changed, and a retry with the same key may succeed
 * - `unknown`: the request may have succeeded; a retry with the same key returns its outcome without a second effect
 * - `unidentified`: the shop does not recognize the buyer; retry after getting a new buyer id
 */
export type AnswerClass = "completed" | "rejected" | "retryable" | "unknown" | "unidentified";

/** Codes of temporary rejections that change nothing. */
const RETRYABLE = new Set([
  "offline",
  "rate_limited",
  "contended",
  "overloaded",
  "shutting_down",
  "backend_unavailable",
  "node_unavailable",
  "lease_lost",
  "fence_stale",
  "aborted",
]);
const UNIDENTIFIED = new Set(["buyer_required", "buyer_mismatch"]);

export function classOf({ status, code }: ShopAnswer): AnswerClass {
  if (status >= 200 && status < 300) return "completed";
  if (code === "idempotency_in_progress") return "unknown";
  if (UNIDENTIFIED.has(code)) return "unidentified";
  if (RETRYABLE.has(code)) return "retryable";
  // No response, a proxy's response, or an internal error: the request may have succeeded.
  return status === 0 || status >= 500 ? "unknown" : "rejected";
}

/** Order id in the response of a purchase; null if it has none. */
export function orderIdOf(answer: ShopAnswer | null): string | null {
  const id = (answer?.body as { order?: { id?: unknown } } | null | undefined)?.order?.id;
  return typeof id === "string" ? id : null;
}

export const NOT_SENT: ShopAnswer = {
  status: 0,
  code: "offline",
  message: "You are offline.",
  body: null,
  details: {},
  retryAfterMs: null,
  node: null,
  strategy: null,
  isReplayed: false,
};

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
/** After this number of attempts, the page lets the buyer decide. */
const MAX_TRIES: Readonly<Record<"retryable" | "unknown" | "unidentified", number>> = {
  retryable: 5,
  unknown: 10,
  unidentified: 2,
};

/**
 * Pause before the next attempt; null: no automatic retry.
 * @param tries attempts so far
 */
export function pauseBefore(answer: ShopAnswer, tries: number): number | null {
  const answerClass = classOf(answer);
  // Offline: retry without a limit, because nothing was sent and the buyer still wants it.
  if (answer.code === "offline") return MAX_PAUSE_MS;
  if (answerClass === "completed" || answerClass === "rejected" || tries >= MAX_TRIES[answerClass]) return null;
  if (answerClass === "unidentified") return 0;
  const backoffMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1));
  return Math.max(answer.retryAfterMs ?? 0, backoffMs);
}
