import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Connection } from "../runs/engines/connection-owner";
import { processSingleton } from "../services/singleton";

/** What is known of the request that Next answers and is not in what Next hands on. */
export interface RequestContext {
  /** Under which it is found in the logs; `x-request-id`, in and out. */
  readonly requestId: string;
  /** The connection it came on; null where a proxy is at its other end. */
  readonly connection: Connection | null;
}

const SHAPE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const LEFT_BY_PROXIES = ["forwarded", "x-forwarded-for", "via"] as const;

/** The client's own id when it has the shape of one, else a new one: whatever goes to the log and back is checked. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && SHAPE.test(header) ? header : randomUUID();
}

export function connectionOf({ socket, headers }: IncomingMessage): Connection | null {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  if (LEFT_BY_PROXIES.some((name) => headers[name] !== undefined)) return null;
  if (!localAddress || !localPort || !remoteAddress || !remotePort) return null;
  return { localAddress, localPort, remoteAddress, remotePort };
}

/** Runs the work of a request that Next answers; the hot path does without. */
export function withRequest<T>(context: RequestContext, work: () => T): T {
  return storage().run(context, work);
}

export function currentRequest(): RequestContext | undefined {
  return storage().getStore();
}

function storage(): AsyncLocalStorage<RequestContext> {
  return processSingleton("request-context", () => new AsyncLocalStorage<RequestContext>());
}
