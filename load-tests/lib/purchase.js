/** Sends one purchase and counts its answer. Runs inside k6 only. */
import http from "k6/http";
import { Counter, Trend } from "k6/metrics";

/**
 * @typedef {object} Sale the result of setup(), which every buyer gets
 * @property {string} runId
 * @property {string | null} runKey
 * @property {string} path for example `/api/products/7/reduce-stock`
 * @property {string[]} storeUrls
 * @property {number} doorsOpenAtMs on the test clock
 * @property {number} requestTimeoutMs
 */

export const buyerLatency = new Trend("buyer_latency", true);
/** Delay of the generator: from the intended start of a purchase until k6 sends it. */
export const startLag = new Trend("start_lag", true);
export const purchases = new Counter("purchases");
/** +1 before a request and -1 after its answer: the sum is the number of purchases without an answer, interrupted ones included. */
export const unanswered = new Counter("unanswered");

const outcomes = {
  sold: new Counter("sold"),
  sold_out: new Counter("sold_out"),
  contended: new Counter("contended"),
  rejected: new Counter("rejected"),
  unavailable: new Counter("unavailable"),
  unknown: new Counter("outcome_unknown"),
  unexpected: new Counter("unexpected_answers"),
};

/** A rejected purchase is an answer, not an HTTP failure. */
const expectedStatuses = http.expectedStatuses(201, 409, 503);

/** @type {Record<string, keyof typeof outcomes>} */
const OUTCOME_OF_CODE = {
  sold_out: "sold_out",
  contended: "contended",
  already_claimed: "rejected",
  limit_reached: "rejected",
  backend_unavailable: "unavailable",
  outcome_unknown: "unknown",
};

/**
 * @param {import("k6/http").RefinedResponse<"text">} response
 * @returns {keyof typeof outcomes}
 */
function outcomeOf(response) {
  if (response.status === 201) return "sold";
  try {
    return (
      OUTCOME_OF_CODE[JSON.parse(response.body).error.code] ?? (response.status === 503 ? "unavailable" : "unexpected")
    );
  } catch (_notTheErrorShape) {
    return "unexpected";
  }
}

/** @typedef {{ url: string, body: string, params: import("k6/http").RefinedParams<"text"> }} Order */

/**
 * @param {Sale} sale
 * @returns {Record<string, string>}
 */
function headersOf({ runId, runKey }) {
  const headers = { "content-type": "application/json", "x-run-id": runId };
  return runKey === null ? headers : { ...headers, "x-run-key": runKey };
}

/**
 * Builds the request before the start, because building 500 requests at one instant would delay them. From here on the purchase
 * counts as unanswered.
 * @param {Sale} sale
 * @param {{ buyer: number, seed: number }} who
 * @returns {Order}
 */
export function prepare(sale, { buyer, seed }) {
  unanswered.add(1);
  return {
    url: `${sale.storeUrls[buyer % sale.storeUrls.length]}${sale.path}`,
    body: JSON.stringify({ userId: `buyer-${seed}-${buyer}` }),
    params: {
      headers: headersOf(sale),
      timeout: sale.requestTimeoutMs,
      responseType: "text",
      responseCallback: expectedStatuses,
      tags: { name: "purchase" },
    },
  };
}

/**
 * @param {Order} order
 * @param {{ intendedAtMs: number, clock: () => number }} start
 */
export function buy(order, start) {
  const lagMs = Math.max(0, start.clock() - start.intendedAtMs);
  const response = http.post(order.url, order.body, order.params);
  purchases.add(1);
  startLag.add(lagMs);
  if (response.status === 0) return;
  unanswered.add(-1);
  // k6 measures `duration` from the open connection; `blocked` is the time before that, including the connect.
  buyerLatency.add(lagMs + response.timings.blocked + response.timings.duration);
  outcomes[outcomeOf(response)].add(1);
}
