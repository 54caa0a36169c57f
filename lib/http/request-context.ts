import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { processSingleton } from "../services/singleton";

/** What is known of the request that Next answers and is not in what Next hands on. */
export interface RequestContext {
  /** Under which it is found in the logs; `x-request-id`, in and out. */
  readonly requestId: string;
}

const SHAPE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The client's own id when it has the shape of one, else a new one: whatever goes to the log and back is checked. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && SHAPE.test(header) ? header : randomUUID();
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
