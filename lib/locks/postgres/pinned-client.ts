import type { Pool, PoolClient, QueryConfig, QueryResult } from "pg";
import type { Clock } from "../clock";
import { withDeadline } from "../with-deadline";
import { requestCancel } from "./cancel-request";
import { isRefusal } from "./sql-state";

/** pg-pool's message when no connection became free. The error has no code. */
const POOL_EXHAUSTED = "timeout exceeded when trying to connect";

export interface PinOptions {
  readonly clock: Clock;
  /** Maximum wait for a free connection. */
  readonly limitMs: number;
  /** Stops the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Takes a connection out of the pool.
 * @returns null if no connection became free in time or the signal aborted; a later one is returned to the pool
 * @throws the pool's error if it cannot connect
 */
export async function pinClient(pool: Pool, bounds: PinOptions): Promise<PinnedClient | null> {
  const { clock, limitMs, signal } = bounds;
  const work = pool.connect();
  const settled = await withDeadline(clock, work, signal ? { limitMs, signal } : { limitMs });
  if (settled.status === "value") return new PinnedClient(settled.value);
  if (settled.status === "error") {
    if (settled.error instanceof Error && settled.error.message === POOL_EXHAUSTED) return null;
    throw settled.error;
  }
  // The caller no longer waits. Return a late connection to the pool and ignore a late error.
  work.then(
    (client) => client.release(),
    () => {},
  );
  return null;
}

/** One connection that is reserved for one handle. Destroyed on return if it is broken. */
export class PinnedClient {
  readonly raw: PoolClient;
  /** Called once, when the connection breaks while it is pinned. */
  onLost: ((cause: Error) => void) | null = null;
  #brokenBy: Error | null = null;
  #isPinned = true;
  #lastWork: Promise<unknown> = Promise.resolve();

  constructor(raw: PoolClient) {
    this.raw = raw;
    raw.on("error", this.#onError);
  }

  /** Why the connection must not be reused; null while it is usable. */
  get brokenBy(): Error | null {
    return this.#brokenBy;
  }

  /** Sends statements without parameters in one round trip. @returns one result per statement */
  async query(text: string, limitMs: number): Promise<QueryResult[]> {
    // A late answer leaves the connection busy, so it is marked broken below and destroyed.
    const config: QueryConfig & { query_timeout: number } = { text, query_timeout: limitMs };
    const work = this.raw.query(config);
    this.#lastWork = work;
    try {
      return [(await work) as QueryResult | QueryResult[]].flat();
    } catch (error) {
      if (error instanceof Error && !isRefusal(error)) this.#brokenBy ??= error;
      throw error;
    }
  }

  /** Makes the pool close this connection instead of reusing it. */
  markBroken(cause: Error): void {
    this.#brokenBy ??= cause;
  }

  /**
   * Cancels the running statement and marks the connection broken. Resolves when the server has ended the statement, or
   * after twice the limit.
   */
  async cancel(clock: Clock, limitMs: number): Promise<void> {
    this.markBroken(new Error("its statement was cancelled, so the cancellation might hit the next one"));
    await requestCancel(this.raw, clock, limitMs);
    await withDeadline(clock, this.#lastWork, { limitMs });
  }

  /** Returns the connection to the pool, which closes it if it is broken. Idempotent. */
  unpin(): void {
    if (!this.#isPinned) return;
    this.#isPinned = false;
    this.raw.release(this.#brokenBy ?? undefined);
    this.raw.removeListener("error", this.#onError);
  }

  readonly #onError = (error: Error) => {
    this.#brokenBy ??= error;
    this.onLost?.(error);
    this.onLost = null;
  };
}
