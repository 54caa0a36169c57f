import type { Intention } from "./pursue";

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

export function remember(name: string, intention: Intention): void {
  withStorage((storage) => storage.setItem(PREFIX + name, JSON.stringify(intention)));
}

export function forget(name: string): void {
  withStorage((storage) => storage.removeItem(PREFIX + name));
}

export function recall(name: string): Intention | null {
  return readIntention(withStorage((storage) => storage.getItem(PREFIX + name)));
}

/** Anything but an intention is nothing. */
export function readIntention(text: string | null): Intention | null {
  if (text === null) return null;
  try {
    const { key, path, body } = JSON.parse(text) as Record<string, unknown>;
    if (typeof key !== "string" || typeof path !== "string" || !path.startsWith("/api/")) return null;
    return typeof body === "object" && body !== null ? { key, path, body: body as Intention["body"] } : null;
  } catch {
    return null; // Not JSON, or not an object.
  }
}
