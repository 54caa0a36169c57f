import { answerOnce, type KeyedRequest, type KeyedWork } from "../shop/idempotency";
import { type WholeAnswer, withCode } from "./answer";
import { isRetryable, isServerError } from "./error-table";

/** Answers all requests with the same Idempotency-Key with the first one's answer. */
export async function answerKeyed(
  request: KeyedRequest,
  work: Pick<KeyedWork, "work" | "findEarlierAnswer">,
): Promise<WholeAnswer> {
  return withCode(await answerOnce(request, { ...work, kindOf }));
}

const kindOf: KeyedWork["kindOf"] = ({ status }) => {
  if (isRetryable(status)) return "retryable";
  return isServerError(status) ? "unknown" : "final";
};
