import type { IdempotentRequest } from "./idempotent-request";

/** Requests without a definite response, kept in the tab's session storage so that a reload continues them. */

const PREFIX = "shop.wanted.";

/** Null if storage is blocked or full. */
function withStorage<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(window.sessionStorage);
  } catch {
    return null; // Without storage, only the continuation after a reload is lost.
  }
}

export function savePending(name: string, request: IdempotentRequest): void {
  withStorage((storage) => storage.setItem(PREFIX + name, JSON.stringify(request)));
}

export function clearPending(name: string): void {
  withStorage((storage) => storage.removeItem(PREFIX + name));
}

export function loadPending(name: string): IdempotentRequest | null {
  return parseRequest(withStorage((storage) => storage.getItem(PREFIX + name)));
}

/** Null for anything that is not a stored request. */
export function parseRequest(text: string | null): IdempotentRequest | null {
  if (text === null) return null;
  try {
    const { key, path, body } = JSON.parse(text) as Record<string, unknown>;
    if (typeof key !== "string" || typeof path !== "string" || !path.startsWith("/api/")) return null;
    return typeof body === "object" && body !== null ? { key, path, body: body as IdempotentRequest["body"] } : null;
  } catch {
    return null; // Not JSON, or not an object.
  }
}
