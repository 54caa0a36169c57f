import { currentNode } from "../node/current-node";
import { env } from "../services/current-env";
import { metrics } from "../services/metrics";
import { processSingleton } from "../services/singleton";
import { errorBody } from "./errors";
import { Forwarder, type NoAnswer } from "./forwarder";
import type { HotResponse } from "./hot-answer";

/**
 * From the dashboard, which sells nothing, to a store node: what a person buys on its pages competes for the same row, counts
 * for the run that is on, and says which node served it. See docs/decisions/160-the-dashboard-sells-nothing.md.
 */

export interface ForwardedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: string | null;
}

const LIMITS = {
  maxInside: 4_096,
  connectLimitMs: 1_000,
  /** As nginx's in deploy/: a purchase waits 60 s for its lock at most. */
  limitMs: 75_000,
};

/** Answered by a node, or 503 `overloaded` or `backend_unavailable` (nothing was sent), or 504 `outcome_unknown`. */
export async function forwardToNode(call: ForwardedCall): Promise<HotResponse> {
  const forwarder = processSingleton("forwarder", () => new Forwarder({ ...LIMITS, nodes: env().STORE_NODES }));
  const answer = await forwarder.send({ ...call, body: call.body ?? "" });
  return "status" in answer ? answer : refusal(answer);
}

const REFUSALS = {
  overloaded: { status: 503, message: "Too many purchases are on their way to the store nodes already." },
  backend_unavailable: { status: 503, message: "No store node takes purchases at the moment." },
  outcome_unknown: {
    status: 504,
    message: "The store node was lost before it answered; ask again with the same Idempotency-Key.",
  },
} as const;

function refusal({ reason, tried }: NoAnswer): HotResponse {
  if (reason === "overloaded") metrics().refusals.add("overloaded");
  const { status, message } = REFUSALS[reason];
  const { name, activeStrategy } = currentNode();
  return {
    status,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "x-store-node": name,
      "x-lock-strategy": activeStrategy,
      ...(status === 503 ? { "retry-after": "1" } : {}),
    },
    body: JSON.stringify(errorBody({ status, code: reason, message, details: { reason, tried } })),
  };
}
