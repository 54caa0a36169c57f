import type { IdempotentRequest } from "./idempotent-request";

/** What is wanted and not yet answered, kept for this tab over a reload. A browser that keeps nothing loses only that. */

const PREFIX = "shop.wanted.";

/** Null where storage is forbidden or full. */
function withStorage<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(window.sessionStorage);
  } catch {
    return null; // A purchase does not depend on it; only its survival of a reload does.
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

/** Anything but an request is nothing. */
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
