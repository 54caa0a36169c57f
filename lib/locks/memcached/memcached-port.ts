/**
 * The Memcached client that the library needs. `openMemcached` wraps memcache-client; the simulator has another. Every
 * command is answered or fails within a limit.
 *
 * Expiry is in whole seconds: 0 is never, negative is at once. The server reads the time once a second and drops the fraction.
 * Its timer is a little late each time, so it skips a second now and then, or several after it stood still: an item stored for
 * n seconds expires after at least n - 2 seconds, minus the lateness of the timer, and at most n seconds.
 */
export interface MemcachedCommands extends AsyncDisposable {
  /** Stores the item if the key is free. @returns false if it is not */
  add(item: MemcachedItem): Promise<boolean>;
  /** Stores the item unconditionally. */
  set(item: MemcachedItem): Promise<void>;
  /** @returns null if there is no item */
  gets(key: string): Promise<MemcachedVersion | null>;
  /** Stores the item with a new expiry if its version is unchanged. */
  cas(item: MemcachedItem, version: MemcachedVersion): Promise<"stored" | "changed" | "gone">;
  /** Adds to a decimal number atomically and keeps the expiry. @returns the sum, or null if there is no item */
  increment(key: string, by: number): Promise<number | null>;
}

export interface MemcachedItem {
  /** 1 to 250 characters, without spaces. */
  readonly key: string;
  readonly value: string;
  readonly expirySeconds: number;
}

export interface MemcachedVersion {
  readonly value: string;
  /** Changes with every write. A running server never reuses a value. */
  readonly casUnique: string;
}

/**
 * `unreachable`: no answer, so a write may have happened. `not-serving`: the server cannot store now. `refused`: the
 * command is invalid and would fail again.
 */
export type MemcachedErrorKind = "unreachable" | "not-serving" | "refused";

export class MemcachedError extends Error {
  override readonly name = "MemcachedError";
  readonly kind: MemcachedErrorKind;

  constructor(kind: MemcachedErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

export function isMemcachedError(error: unknown, ...kinds: MemcachedErrorKind[]): error is MemcachedError {
  if (!(error instanceof Error) || error.name !== "MemcachedError") return false;
  return kinds.length === 0 || kinds.includes((error as MemcachedError).kind);
}

declare module "../lock-entry" {
  interface LockDependencies {
    /** `openMemcached(address)`. */
    memcached(): MemcachedCommands;
  }
}
