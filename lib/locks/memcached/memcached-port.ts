/**
 * All the library asks of a Memcached client. The real one (`openMemcached`) wraps memcache-client; the simulator brings
 * its own. Every command is answered or fails within a bound.
 *
 * Expiry is in whole seconds: 0 never, negative at once. The server counts them on a clock that ticks once a second, so
 * what was stored for n seconds is gone after more than n - 1 of them and no more than n.
 */
export interface MemcachedCommands extends AsyncDisposable {
  /** Stores where there is nothing. @returns false when there is something */
  add(item: MemcachedItem): Promise<boolean>;
  /** Stores whatever there is. */
  set(item: MemcachedItem): Promise<void>;
  /** @returns null when there is nothing */
  gets(key: string): Promise<MemcachedVersion | null>;
  /** Stores if the item is still the version read, and gives it a new expiry. */
  cas(item: MemcachedItem, version: MemcachedVersion): Promise<"stored" | "changed" | "gone">;
  /** Adds to a decimal number in one step; the expiry stays. @returns the sum; null when there is nothing */
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
  /** Changes with every write to the item; never used twice by a running server. */
  readonly casUnique: string;
}

/**
 * `unreachable`: no answer, so that a write may have happened. `not-serving`: the server says that it cannot store now.
 * `refused`: the command is wrong and will be wrong again.
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
