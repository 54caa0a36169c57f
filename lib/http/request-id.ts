import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { processSingleton } from "../services/singleton";

/** The id under which a request is found in the logs; `x-request-id`, in and out. */

const SHAPE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The client's own id when it has the shape of one, else a new one: whatever goes to the log and back is checked. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && SHAPE.test(header) ? header : randomUUID();
}

/** Runs the work of a request that Next answers; the hot path does without. */
export function withRequestId<T>(requestId: string, work: () => T): T {
  return storage().run(requestId, work);
}

export function currentRequestId(): string | undefined {
  return storage().getStore();
}

function storage(): AsyncLocalStorage<string> {
  return processSingleton("request-id", () => new AsyncLocalStorage<string>());
}
