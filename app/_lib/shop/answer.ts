/** One answer of the shop, and what it means for what the buyer wanted. */

export interface ShopAnswer {
  /** 0: there was no answer. */
  readonly status: number;
  /** Of an error; `ok` for none; `unreachable` and `no_answer` where there was none; `offline` where nothing was sent. */
  readonly code: string;
  readonly message: string;
  readonly body: unknown;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | null;
  /** Who served it and how; null when the answer does not say. */
  readonly node: string | null;
  readonly strategy: string | null;
  /** The answer was given before: this request repeated another. */
  readonly isReplayed: boolean;
}

/**
 * - `done`: it was bought, claimed, paid
 * - `refused`: nothing was taken, and asking again would change nothing
 * - `later`: nothing was taken, and it is worth trying again with the same key
 * - `unknown`: it may have happened; asking again with the same key finds out and takes nothing twice
 * - `stranger`: the shop does not know the buyer; with a fresh id it can be tried again
 */
export type AnswerClass = "completed" | "rejected" | "retryable" | "unknown" | "unidentified";

/** Refusals by which nothing was taken and that pass. */
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
  // No answer at all, one of something in between, or a failure whose place is not known.
  return status === 0 || status >= 500 ? "unknown" : "rejected";
}

/** The order that a purchase was answered with; null: none. */
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
/** After so many tries the buyer is asked whether to go on. */
const MAX_TRIES: Readonly<Record<"retryable" | "unknown" | "unidentified", number>> = {
  retryable: 5,
  unknown: 10,
  unidentified: 2,
};

/**
 * How long to wait before the same is sent again; null: leave it to the buyer.
 * @param tries how often it was sent
 */
export function pauseBefore(answer: ShopAnswer, tries: number): number | null {
  const answerClass = classOf(answer);
  // A network that is away comes back some day, and the click is still meant.
  if (answer.code === "offline") return MAX_PAUSE_MS;
  if (answerClass === "completed" || answerClass === "rejected" || tries >= MAX_TRIES[answerClass]) return null;
  if (answerClass === "unidentified") return 0;
  const backoffMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1));
  return Math.max(answer.retryAfterMs ?? 0, backoffMs);
}
