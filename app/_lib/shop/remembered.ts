import type { Intention } from "./pursue";

/** What is wanted and not yet answered, kept for this tab over a reload. A browser that keeps nothing loses only that. */

const PREFIX = "shop.wanted.";

function storage(): Storage | null {
  try {
    return window.sessionStorage;
  } catch {
    return null; // Storage is forbidden here.
  }
}

export function remember(name: string, intention: Intention): void {
  storage()?.setItem(PREFIX + name, JSON.stringify(intention));
}

export function forget(name: string): void {
  storage()?.removeItem(PREFIX + name);
}

export function recall(name: string): Intention | null {
  return readIntention(storage()?.getItem(PREFIX + name) ?? null);
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
