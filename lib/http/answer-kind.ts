import type { Answer, AnswerKind } from "../shop/idempotency";

/** Whether the answer of a request with an idempotency key may be repeated. */
export function answerKindOf({ status }: Answer): AnswerKind {
  if (status === 429 || status === 503) return "retryable";
  return status >= 500 ? "unknown" : "final";
}
