import type { Pool, QueryResult } from "pg";
import { isLockError } from "../errors";
import type { HandleContext, LeaseBackend, LockHandle, TryLimits, TryReply } from "../lease-backend";
import type { StrategyTraits } from "../types";
import type { StrategyUnderTest } from "./pg-port";
import { PgTransaction } from "./pg-transaction";
import { type PinnedClient, pinClient } from "./pinned-client";
import { isBusy, unavailable } from "./sql-state";

/** What sets one lock in PostgreSQL apart from another. */
export interface PgLockDefinition {
  readonly traits: StrategyTraits;
  /**
   * The statement that takes the lock. `wait`: queues in the server, whose statement_timeout ends it; `nowait`: does not.
   * @throws {LockError} `config_invalid` when the resource stands for nothing that can be locked
   */
  take(resource: string, mode: "wait" | "nowait"): string;
  /** Whether the statement took it, for those that say so in their result. Absent: it did if it did not fail. */
  isTaken?(result: QueryResult, resource: string): boolean;
  /** False: it never queues in the server; the runner asks again and again. */
  readonly queues: boolean;
  /** Frees the lock, for one that outlives its transaction; the section then gets no `tx`. First column: was it held? */
  readonly free?: (resource: string) => string;
}

/** A wait that is over at once still gets this long to find a free connection: that is not waiting for the lock. */
const LEAST_POOL_WAIT_MS = 1_000;
const CANCEL_LIMIT_MS = 300;
const FREE_LIMIT_MS = 500;
const MAX_STATEMENT_TIMEOUT_MS = 2 ** 31 - 1;

/** What the contenders of one strategy know of the server together. */
interface Pulse {
  /** When the server last answered any of them. */
  heardAtMs: number;
  /** How many of them hold their lock. */
  holders: number;
}

/** The inner port of every lock in PostgreSQL: one contender, one pinned connection, at most one transaction. */
export function pgBackend(guard: PgLockDefinition, pool: () => Pool): LeaseBackend {
  const pulse: Pulse = { heardAtMs: Number.NEGATIVE_INFINITY, holders: 0 };
  return {
    traits: guard.traits,
    leaseKind: "session",
    waitsInTry: true,
    createHandle: (context) => new PgLockHandle(guard, pool(), { context, pulse }),
  };
}

class PgLockHandle implements LockHandle {
  readonly #guard: PgLockDefinition;
  readonly #pool: Pool;
  readonly #context: HandleContext;
  readonly #pulse: Pulse;
  readonly #subject: StrategyUnderTest;
  /** Aborts when the contender is released: it waits for no connection any more. */
  readonly #retired = new AbortController();
  #transaction: PgTransaction | null = null;
  #state: "idle" | "trying" | "holding" = "idle";

  constructor(guard: PgLockDefinition, pool: Pool, { context, pulse }: { context: HandleContext; pulse: Pulse }) {
    this.#guard = guard;
    this.#pool = pool;
    this.#context = context;
    this.#pulse = pulse;
    this.#subject = { strategyId: guard.traits.id, resource: context.resource };
  }

  async tryAcquire({ waitLimitMs }: TryLimits): Promise<TryReply> {
    const { clock } = this.#context;
    const startedMs = clock.nowMs();
    const client = await this.#pin(waitLimitMs);
    const poolWaitMs = clock.nowMs() - startedMs;
    if (!client) {
      if (this.#isAlive(startedMs)) return { status: "held", poolWaitMs };
      throw unavailable(new Error(`no connection within ${Math.round(poolWaitMs)} ms`), this.#subject);
    }
    const waitMs = Math.min(MAX_STATEMENT_TIMEOUT_MS, Math.floor(waitLimitMs - poolWaitMs));
    const isTaken = await this.#take(client, waitMs);
    if (!isTaken) return { status: "held", poolWaitMs };
    return { status: "granted", poolWaitMs, ...(this.#guard.free ? {} : { tx: client.raw }) };
  }

  async commit(): Promise<void> {
    if (!this.#guard.free) await this.#transaction?.commit();
    this.#hear();
  }

  async release(): Promise<"released" | "not_held"> {
    this.#retired.abort();
    const transaction = this.#transaction;
    const wasTrying = this.#state === "trying";
    if (this.#state === "holding") this.#pulse.holders -= 1;
    this.#state = "idle";
    this.#transaction = null;
    if (!transaction) return "released";
    // A server that only lost its client would go on waiting for the lock in its name.
    if (wasTrying) await transaction.client.cancel(this.#context.clock, CANCEL_LIMIT_MS);
    const isFreed = await this.#free(transaction, wasTrying);
    return isFreed ? "released" : "not_held";
  }

  /** @returns null when every connection stayed in use for as long as the caller may wait */
  async #pin(waitLimitMs: number): Promise<PinnedClient | null> {
    const { clock } = this.#context;
    const limitMs = Math.max(LEAST_POOL_WAIT_MS, waitLimitMs);
    try {
      return await pinClient(this.#pool, { clock, limitMs, signal: this.#retired.signal });
    } catch (error) {
      throw unavailable(error, this.#subject);
    }
  }

  /** With every connection in use: busy with this very lock, or is there no server behind them? */
  #isAlive(sinceMs: number): boolean {
    return this.#pulse.holders > 0 || this.#pulse.heardAtMs >= sinceMs;
  }

  async #take(client: PinnedClient, waitMs: number): Promise<boolean> {
    const { resource, declareLost } = this.#context;
    const transaction = new PgTransaction(client, this.#subject);
    this.#transaction = transaction;
    this.#state = "trying";
    client.onLost = declareLost;
    try {
      const result = await this.#begin(transaction, waitMs);
      this.#hear();
      if (this.#guard.isTaken?.(result, resource) ?? true) return this.#hold(transaction);
      await this.#drop(transaction);
      return false;
    } catch (error) {
      await this.#drop(transaction);
      if (!isBusy(error)) throw isLockError(error) ? error : unavailable(error, this.#subject);
      this.#hear();
      return false;
    }
  }

  /**
   * READ COMMITTED whatever the server's default: a stricter level would read from a snapshot that may be older than the
   * lock. statement_timeout and not lock_timeout, which counts each of several waits for one row by itself.
   */
  async #begin(transaction: PgTransaction, waitMs: number): Promise<QueryResult> {
    const mayWait = this.#guard.queues && waitMs >= 1;
    const take = this.#guard.take(this.#context.resource, mayWait ? "wait" : "nowait");
    const bounded = [`SET LOCAL statement_timeout = ${waitMs}`, take, "SET LOCAL statement_timeout TO DEFAULT"];
    const statements = mayWait ? bounded : [take];
    const results = await transaction.begin({ isolation: "READ COMMITTED", statements, waitMs: Math.max(0, waitMs) });
    return results[mayWait ? 1 : 0] as QueryResult;
  }

  /** @returns false when the contender was released meanwhile; whoever did that has ended the transaction */
  async #hold(transaction: PgTransaction): Promise<boolean> {
    if (this.#transaction !== transaction) return false;
    // A lock of the session outlives the transaction it was taken in; if this fails, nothing has been done yet.
    if (this.#guard.free) {
      const [ended] = await Promise.allSettled([transaction.commit()]);
      if (ended.status === "rejected") throw unavailable(ended.reason, this.#subject);
    }
    this.#state = "holding";
    this.#pulse.holders += 1;
    return true;
  }

  async #drop(transaction: PgTransaction): Promise<void> {
    if (this.#transaction !== transaction) return;
    this.#transaction = null;
    this.#state = "idle";
    // A timeout may strike after a session's lock was taken: a rollback would leave it there.
    await transaction.end(this.#guard.free && "SELECT pg_advisory_unlock_all()");
  }

  async #free(transaction: PgTransaction, wasTrying: boolean): Promise<boolean> {
    const { free } = this.#guard;
    if (!free || wasTrying || transaction.client.flaw) return transaction.end();
    try {
      const [result] = await transaction.client.query(free(this.#context.resource), FREE_LIMIT_MS);
      const wasHeld = result?.rows[0]?.freed === true;
      return (await transaction.end()) && wasHeld;
    } catch (error) {
      transaction.client.markBroken(error as Error);
      return transaction.end();
    }
  }

  #hear(): void {
    this.#pulse.heardAtMs = this.#context.clock.nowMs();
  }
}
