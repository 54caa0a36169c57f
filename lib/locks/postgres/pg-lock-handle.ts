import type { Pool, QueryResult } from "pg";
import { isLockError } from "../errors";
import type { HandleContext, LeaseBackend, LockHandle, TryLimits, TryReply } from "../lease-backend";
import type { StrategyTraits } from "../types";
import type { ErrorContext } from "./pg-port";
import { ANSWER_LIMIT_MS, PgTransaction } from "./pg-transaction";
import { type PinnedClient, pinClient } from "./pinned-client";
import { isBusy, unavailable } from "./sql-state";

/** What distinguishes one PostgreSQL lock from another. */
export interface PgLockDefinition {
  readonly traits: StrategyTraits;
  /**
   * The statement that acquires the lock. `wait`: queues in the server until statement_timeout. `nowait`: does not
   * queue.
   * @throws {LockError} `config_invalid` if no lockable row or table belongs to the resource
   */
  acquireSql(resource: string, mode: "wait" | "nowait"): string;
  /** Whether the statement acquired the lock, if its result says so. If absent, success of the statement means yes. */
  isAcquired?(result: QueryResult, resource: string): boolean;
  /** False: the statement never queues in the server, and the runner polls. */
  readonly queuesInServer: boolean;
  /**
   * The release statement of a lock that outlives its transaction; the section then gets no `tx`. The first column says
   * whether the lock was held.
   */
  readonly releaseSql?: (resource: string) => string;
}

/** Minimum wait for a free connection, even if `waitTimeoutMs` is 0: it is not a wait for the lock. */
const MIN_POOL_WAIT_MS = 500;
const CANCEL_LIMIT_MS = 300;
const RELEASE_SQL_LIMIT_MS = 500;
const MAX_STATEMENT_TIMEOUT_MS = 2 ** 31 - 1;

/** What all handles of one strategy know about the server. */
interface ServerActivity {
  /** Time of the latest answer from the server to any handle. */
  lastAnswerMs: number;
  /** Number of handles that hold their lock. */
  holders: number;
}

/** The inner port of every PostgreSQL lock: one handle, one pinned connection, at most one transaction. */
export function pgBackend(definition: PgLockDefinition, pool: () => Pool): LeaseBackend {
  const activity: ServerActivity = { lastAnswerMs: Number.NEGATIVE_INFINITY, holders: 0 };
  return {
    traits: definition.traits,
    leaseKind: "session",
    waitsInTry: true,
    createHandle: (context) => new PgLockHandle(definition, pool(), { context, activity }),
  };
}

class PgLockHandle implements LockHandle {
  readonly #definition: PgLockDefinition;
  readonly #pool: Pool;
  readonly #context: HandleContext;
  readonly #activity: ServerActivity;
  readonly #errorContext: ErrorContext;
  /** Aborts on release, which ends the wait for a pooled connection. */
  readonly #released = new AbortController();
  #transaction: PgTransaction | null = null;
  #state: "idle" | "trying" | "holding" = "idle";

  constructor(
    definition: PgLockDefinition,
    pool: Pool,
    { context, activity }: { context: HandleContext; activity: ServerActivity },
  ) {
    this.#definition = definition;
    this.#pool = pool;
    this.#context = context;
    this.#activity = activity;
    this.#errorContext = { strategyId: definition.traits.id, resource: context.resource };
  }

  async tryAcquire({ waitLimitMs }: TryLimits): Promise<TryReply> {
    const { clock } = this.#context;
    const startedMs = clock.nowMs();
    const client = await this.#pin(waitLimitMs);
    const poolWaitMs = clock.nowMs() - startedMs;
    if (!client) {
      if (this.#isServerAnswering(startedMs)) return { status: "held", poolWaitMs };
      throw unavailable(new Error(`no connection within ${Math.round(poolWaitMs)} ms`), this.#errorContext);
    }
    const waitMs = Math.min(MAX_STATEMENT_TIMEOUT_MS, Math.floor(waitLimitMs - poolWaitMs));
    const isAcquired = await this.#acquire(client, waitMs);
    if (!isAcquired) return { status: "held", poolWaitMs };
    return { status: "granted", poolWaitMs, ...(this.#definition.releaseSql ? {} : { tx: client.raw }) };
  }

  async commit(limitMs: number): Promise<void> {
    if (!this.#definition.releaseSql) await this.#transaction?.commit(limitMs);
    this.#noteAnswer();
  }

  async release(): Promise<"released" | "not_held"> {
    this.#released.abort();
    const transaction = this.#transaction;
    const wasTrying = this.#state === "trying";
    if (this.#state === "holding") this.#activity.holders -= 1;
    this.#state = "idle";
    this.#transaction = null;
    if (!transaction) return "released";
    // Without a cancel request the server would keep waiting for the lock on behalf of a lost client.
    if (wasTrying) await transaction.client.cancel(this.#context.clock, CANCEL_LIMIT_MS);
    const isReleased = await this.#releaseLock(transaction, wasTrying);
    return isReleased ? "released" : "not_held";
  }

  /** @returns null if no connection became free within the wait */
  async #pin(waitLimitMs: number): Promise<PinnedClient | null> {
    const { clock } = this.#context;
    const limitMs = Math.max(MIN_POOL_WAIT_MS, waitLimitMs);
    try {
      return await pinClient(this.#pool, { clock, limitMs, signal: this.#released.signal });
    } catch (error) {
      throw unavailable(error, this.#errorContext);
    }
  }

  /** All connections are in use. True if this lock's holders use them; false if the server does not answer. */
  #isServerAnswering(sinceMs: number): boolean {
    return this.#activity.holders > 0 || this.#activity.lastAnswerMs >= sinceMs;
  }

  async #acquire(client: PinnedClient, waitMs: number): Promise<boolean> {
    const { resource, declareLost } = this.#context;
    const transaction = new PgTransaction(client, this.#errorContext);
    this.#transaction = transaction;
    this.#state = "trying";
    client.onLost = declareLost;
    try {
      const result = await this.#begin(transaction, waitMs);
      this.#noteAnswer();
      if (this.#definition.isAcquired?.(result, resource) ?? true) return this.#startHold(transaction);
      await this.#discard(transaction);
      return false;
    } catch (error) {
      await this.#discard(transaction);
      if (!isBusy(error)) throw isLockError(error) ? error : unavailable(error, this.#errorContext);
      this.#noteAnswer();
      return false;
    }
  }

  /**
   * READ COMMITTED regardless of the server default: a stricter level would read from a snapshot older than the lock.
   * statement_timeout instead of lock_timeout, which restarts for each of several waits on one row.
   */
  async #begin(transaction: PgTransaction, waitMs: number): Promise<QueryResult> {
    const mayWait = this.#definition.queuesInServer && waitMs >= 1;
    const acquireSql = this.#definition.acquireSql(this.#context.resource, mayWait ? "wait" : "nowait");
    const bounded = [`SET LOCAL statement_timeout = ${waitMs}`, acquireSql, "SET LOCAL statement_timeout TO DEFAULT"];
    const statements = mayWait ? bounded : [acquireSql];
    const results = await transaction.begin({ isolation: "READ COMMITTED", statements, waitMs: Math.max(0, waitMs) });
    return results[mayWait ? 1 : 0] as QueryResult;
  }

  /** @returns false if the handle was released meanwhile; that release has ended the transaction */
  async #startHold(transaction: PgTransaction): Promise<boolean> {
    if (this.#transaction !== transaction) return false;
    // A session-level lock outlives the transaction that acquired it. If this commit fails, no work has been done yet.
    if (this.#definition.releaseSql) {
      const [ended] = await Promise.allSettled([transaction.commit(ANSWER_LIMIT_MS)]);
      if (ended.status === "rejected") throw unavailable(ended.reason, this.#errorContext);
    }
    this.#state = "holding";
    this.#activity.holders += 1;
    return true;
  }

  async #discard(transaction: PgTransaction): Promise<void> {
    if (this.#transaction !== transaction) return;
    this.#transaction = null;
    this.#state = "idle";
    // A timeout may strike after a session-level lock was acquired. A rollback would not release it.
    await transaction.end(this.#definition.releaseSql && "SELECT pg_advisory_unlock_all()");
  }

  async #releaseLock(transaction: PgTransaction, wasTrying: boolean): Promise<boolean> {
    const { releaseSql } = this.#definition;
    if (!releaseSql || wasTrying || transaction.client.brokenBy) return transaction.end();
    try {
      const [result] = await transaction.client.query(releaseSql(this.#context.resource), RELEASE_SQL_LIMIT_MS);
      const wasHeld = result?.rows[0]?.released === true;
      return (await transaction.end()) && wasHeld;
    } catch (error) {
      transaction.client.markBroken(error as Error);
      return transaction.end();
    }
  }

  #noteAnswer(): void {
    this.#activity.lastAnswerMs = this.#context.clock.nowMs();
  }
}
