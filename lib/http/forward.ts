import { LockError } from "../locks/errors";
import { storeNodes } from "../runs/catalogue";
import { env } from "../services/current-env";
import { processSingleton } from "../services/singleton";
import { HttpError } from "./errors";
import type { HotResponse } from "./hot-answer";

/** From a process that does not sell to one that does: what a page of the dashboard sends is served by a store node. */

export interface ForwardedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: string | null;
}

/** Beyond what a purchase may wait for its lock. */
const GRACE_MS = 10_000;
const ANSWER_HEADERS = [
  "content-type",
  "cache-control",
  "x-store-node",
  "x-lock-strategy",
  "retry-after",
  "allow",
  "location",
  "set-cookie",
  "idempotent-replayed",
];
/** Failures before anything was sent: the next node may be asked. */
const NEVER_SENT = /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT/;

/**
 * Nodes take turns; one that does not listen is passed over.
 * @throws {LockError} `outcome_unknown` when a node took the call and did not answer
 * @throws HttpError 503 `node_unavailable`
 */
export async function forwardToNode(call: ForwardedCall): Promise<HotResponse> {
  const nodes = storeNodes();
  const turn = processSingleton("forward-turn", () => ({ next: 0 }));
  turn.next = (turn.next + 1) % nodes.length;
  for (let index = 0; index < nodes.length; index += 1) {
    const node = nodes[(turn.next + index) % nodes.length];
    const answer = node && (await send(call, node));
    if (answer) return answer;
  }
  const message = "No store node answers.";
  throw new HttpError({ status: 503, code: "node_unavailable", message, headers: { "retry-after": "1" } });
}

async function send(call: ForwardedCall, node: { name: string; url: string }): Promise<HotResponse | null> {
  const headers = Object.fromEntries(Object.entries(call.headers).filter(([, value]) => value !== null));
  try {
    const response = await fetch(`${node.url}${call.path}`, {
      method: call.method,
      headers: headers as Record<string, string>,
      ...(call.body === null ? {} : { body: call.body }),
      signal: AbortSignal.timeout(env().WAIT_TIMEOUT_MS + env().HOLD_MS + GRACE_MS),
    });
    const kept = ANSWER_HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return { status: response.status, headers: Object.fromEntries(kept), body: await response.text() };
  } catch (error) {
    const reason = reasonOf(error as Error);
    if (NEVER_SENT.test(reason)) return null;
    throw new LockError({
      code: "outcome_unknown",
      strategyId: "shop",
      resource: call.path,
      message: `${node.name} took the request and did not answer: ${reason}`,
      isDefinite: false,
      cause: error,
    });
  }
}

function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${(cause as Error & { code?: string }).code ?? ""} ${cause.message}` : message;
}
