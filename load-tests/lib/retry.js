/** How long a client repeats a request that the lab asks it to retry. Far below k6's limit of 60 s for the teardown. */
const RETRY_LIMIT_MS = 25_000;
const UNAVAILABLE = 503;

/**
 * The delay before a request is repeated; null: it is not repeated, because the answer is final or the limit is reached.
 * @param {{ status: number, retryAfter: string | null | undefined, elapsedMs: number }} answer elapsed since the first attempt
 * @returns {number | null}
 */
export function retryDelayMs({ status, retryAfter, elapsedMs }) {
  const delayMs = Number(retryAfter ?? Number.NaN) * 1_000;
  const mayRetry = status === UNAVAILABLE && delayMs > 0 && elapsedMs + delayMs <= RETRY_LIMIT_MS;
  return mayRetry ? delayMs : null;
}
