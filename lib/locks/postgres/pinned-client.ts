import type { Pool, PoolClient, QueryConfig, QueryResult } from "pg";
import type { Clock } from "../clock";
import { withDeadline } from "../with-deadline";
import { requestCancel } from "./cancel-request";
import { isRefusal } from "./sql-state";

/** What pg-pool says when every connection stayed in use; it has no code of its own. */
const POOL_EXHAUSTED = "timeout exceeded when trying to connect";

export interface PinBounds {
  readonly clock: Clock;
  /** How long to wait for a free connection. */
  readonly limitMs: number;
  /** Gives up waiting. */
  readonly signal?: AbortSignal;
}

/**
 * Takes a connection out of the pool for a while.
 * @returns null when none became free in time, or the signal aborted; one that comes later goes back by itself
 * @throws the pool's error when no connection could be made
 */
export async function pinClient(pool: Pool, bounds: PinBounds): Promise<PinnedClient | null> {
  const { clock, limitMs, signal } = bounds;
  const work = pool.connect();
  const settled = await withDeadline(clock, work, signal ? { limitMs, signal } : { limitMs });
  if (settled.status === "value") return new PinnedClient(settled.value);
  if (settled.status === "error") {
    if (settled.error instanceof Error && settled.error.message === POOL_EXHAUSTED) return null;
    throw settled.error;
  }
  // Nobody waits any more: what the pool makes of it is of no interest, but a connection must not get lost.
  work.then(
    (client) => client.release(),
    () => {},
  );
  return null;
}

/** One connection in the hands of one holder, from the pool and back; destroyed where it cannot be trusted any more. */
export class PinnedClient {
  readonly raw: PoolClient;
  /** Called once, when the connection breaks while it is pinned. */
  onLost: ((cause: Error) => void) | null = null;
  #flaw: Error | null = null;
  #isPinned = true;
  #lastWork: Promise<unknown> = Promise.resolve();

  constructor(raw: PoolClient) {
    this.raw = raw;
    raw.on("error", this.#onError);
  }

  /** Why the connection is not to be used again; null while it is sound. */
  get flaw(): Error | null {
    return this.#flaw;
  }

  /** Sends statements in one round trip, without parameters. @returns one result for each */
  async query(text: string, limitMs: number): Promise<QueryResult[]> {
    // An answer that comes too late leaves the connection busy: it is destroyed with the flaw noted below.
    const config: QueryConfig & { query_timeout: number } = { text, query_timeout: limitMs };
    const work = this.raw.query(config);
    this.#lastWork = work;
    try {
      return [(await work) as QueryResult | QueryResult[]].flat();
    } catch (error) {
      if (error instanceof Error && !isRefusal(error)) this.#flaw ??= error;
      throw error;
    }
  }

  /** The pool is to close this connection instead of using it again. */
  markBroken(cause: Error): void {
    this.#flaw ??= cause;
  }

  /**
   * Cancels what the connection is busy with, and sees to it that it is not used again. Resolves when the server has given
   * the statement up, or after twice the limit.
   */
  async cancel(clock: Clock, limitMs: number): Promise<void> {
    this.markBroken(new Error("its statement was cancelled"));
    await requestCancel(this.raw, clock, limitMs);
    await withDeadline(clock, this.#lastWork, { limitMs });
  }

  /** Back to the pool, which closes it if there is a flaw. Idempotent. */
  unpin(): void {
    if (!this.#isPinned) return;
    this.#isPinned = false;
    this.raw.release(this.#flaw ?? undefined);
    this.raw.removeListener("error", this.#onError);
  }

  readonly #onError = (error: Error) => {
    this.#flaw ??= error;
    this.onLost?.(error);
    this.onLost = null;
  };
}
