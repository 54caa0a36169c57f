import { currentNode } from "../node/current-node";
import { env } from "../services/current-env";
import { metrics } from "../services/metrics";
import { processSingleton } from "../services/singleton";
import { errorAnswer, type WholeAnswer } from "./answer";
import { HttpError } from "./errors";
import { Forwarder, type NoAnswer } from "./forwarder";
import { servedByHeaders } from "./purchase-answers";
import { headerOf, type RawRequest } from "./raw-request";

/**
 * Forwards a request from the dashboard to a store node. The dashboard runs no strategy: a purchase from its pages must
 * compete for the same row as a run's load, and must name the node that served it.
 */

const FORWARDED_HEADERS = [
  "content-type",
  "cookie",
  "idempotency-key",
  "x-request-id",
  "x-run-id",
  "x-run-key",
] as const;

const LIMITS = {
  maxInFlight: 4_096,
  connectLimitMs: 1_000,
  /** As nginx's in deploy/. A purchase waits at most 60 s for its lock. */
  limitMs: 75_000,
};

/** @returns the node's answer, or `overloaded` or `backend_unavailable` (nothing was sent), or `outcome_unknown` */
export async function forwardToNode({ method, url, headers }: RawRequest, body: string): Promise<WholeAnswer> {
  const forwarder = processSingleton("forwarder", () => new Forwarder({ ...LIMITS, nodes: env().STORE_NODES }));
  const forwarded = Object.fromEntries(FORWARDED_HEADERS.map((name) => [name, headerOf(headers, name)]));
  const answer = await forwarder.send({ method, path: url, headers: forwarded, body });
  return "status" in answer ? answer : failure(answer);
}

const MESSAGES: Readonly<Record<NoAnswer["reason"], string>> = {
  overloaded: "Too many requests are on their way to the store nodes. Nothing was sent. Retry.",
  backend_unavailable: "No store node accepts requests. Nothing was sent. Retry.",
  outcome_unknown: "The store node did not respond. Retry with the same Idempotency-Key.",
};

function failure({ reason, tried }: NoAnswer): WholeAnswer {
  if (reason === "overloaded") metrics().refusals.add("overloaded");
  const { name, activeStrategy } = currentNode();
  const error = new HttpError({ code: reason, message: MESSAGES[reason], details: { reason, tried } });
  return errorAnswer(error, servedByHeaders({ node: name, strategy: activeStrategy }));
}
