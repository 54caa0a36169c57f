import type { Pool } from "pg";
import { createBackoff } from "../locks/backoff";
import { isLockError, LockError } from "../locks/errors";
import { PgTransaction } from "../locks/postgres/pg-transaction";
import { type PinnedClient, pinClient } from "../locks/postgres/pinned-client";
import { isBusy, isRefusal, SQL_STATE, sqlStateOf, unavailable } from "../locks/postgres/sql-state";
import type { RunnerDependencies } from "../locks/runner-context";
import type { StrategyTraits } from "../locks/types";
import { elapsedMs, nowNs } from "../services/monotonic";
import { giveBackRelative } from "./give-back";
import { recordPoolWait } from "./pool-wait";
import { rowRejectionOf } from "./row-rejection";
import type { StatementName } from "./stock-sql";
import type { StockRow, StockStore } from "./stock-store";
import {
  type GiveBackOutcome,
  type GiveBackRequest,
  resourceOf,
  type StockOutcome,
  type StockRequest,
  type StockStrategy,
} from "./types";

export const sqlSerializableTraits: StrategyTraits = {
  id: "sql-serializable",
  family: "sql",
  kind: "atomic",
  mechanism: "The naive read and write in a SERIALIZABLE transaction; who came second is rolled back and starts again.",
  remark: "retries",
  needs: ["postgres"],
  waiting: "retry",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
};

/** Full jitter between nothing and a ceiling that doubles: those who collided once should not meet again. */
const RETRY_BACKOFF = { minMs: 0, startMs: 8, growth: 2, perWaiterMs: 128, maxMs: 128 };
/** A wait that is over at once still gets this long to find a free connection. */
const MIN_POOL_WAIT_MS = 1_000;
const CANCEL_LIMIT_MS = 300;

export interface SqlSerializableParts {
  readonly store: StockStore;
  readonly pool: Pool;
  readonly dependencies: Pick<RunnerDependencies, "clock" | "random">;
}

/**
 * The database's own promise: the transactions behave as if they had come one after the other.
 *
 * - Guarantees: what `sql-row-lock` does, without naming a row; also where what is read is not what is written.
 * - Breaks under: nothing. Under heat it collapses: of those who read the same stock one commits, and all others have
 *   worked for nothing (40001, rarely 40P01) and try again after a jittered pause, until `waitTimeoutMs` is over, then
 *   `contended`. `trace.attempts` counts the tries.
 * - Fencing token: none; PostgreSQL itself refuses the write that came too late. Clock: none but the caller's deadline.
 * - Units: integer stock units, milliseconds; `holdMs` passes between the read and the write of every try.
 * - SQL: BEGIN ISOLATION LEVEL SERIALIZABLE, `read`, `writeAbsolute`, COMMIT. "Sold out" counts after its COMMIT too: until
 *   then a read may yet turn out to fit no order of events.
 *
 * Each try keeps one pooled connection, and none while it pauses.
 *
 * @throws {LockError} `backend_unavailable`, `aborted`, or `outcome_unknown` when the answer to COMMIT was lost
 * @see https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE
 */
export class SqlSerializable implements StockStrategy {
  readonly id = sqlSerializableTraits.id;
  readonly traits = sqlSerializableTraits;

  constructor(private readonly parts: SqlSerializableParts) {}

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const { trace } = request;
    const { clock, random } = this.parts.dependencies;
    const startedNs = nowNs();
    const backoff = createBackoff(RETRY_BACKOFF, random);
    trace.waitNs = startedNs;
    for (let attempt = 1; ; attempt += 1) {
      trace.attempts = attempt;
      const outcome = await this.tryOnce(request, request.waitTimeoutMs - elapsedMs(startedNs));
      if (outcome !== "conflict") return outcome;
      const waitedMs = elapsedMs(startedNs);
      const delayMs = backoff.nextMs(1);
      if (waitedMs + delayMs >= request.waitTimeoutMs) return { status: "contended", waitedMs, attempts: attempt };
      await clock.sleep(delayMs, request.signal);
      this.throwIfAborted(request);
    }
  }

  /** One statement: where it meets a transaction under way, that one is rolled back and starts again. */
  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    return giveBackRelative(this.parts.store, request, this.id);
  }

  private async tryOnce(request: StockRequest, leftMs: number): Promise<StockOutcome | "conflict"> {
    const client = await this.pin(request, leftMs);
    if (!client) return "conflict";
    const transaction = new PgTransaction(client, { strategyId: this.id, resource: resourceOf(request.target) });
    const cancel = () => void client.cancel(this.parts.dependencies.clock, CANCEL_LIMIT_MS);
    request.signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await this.readModifyWrite(request, transaction, leftMs);
    } catch (error) {
      this.throwIfAborted(request);
      if (isRefusal(error)) request.trace.writeAccepted = false;
      const refusal = rowRejectionOf(error);
      if (refusal) return refusal;
      if (sqlStateOf(error) === SQL_STATE.serializationFailure || isBusy(error)) return "conflict";
      throw isLockError(error)
        ? error
        : unavailable(error, { strategyId: this.id, resource: resourceOf(request.target) });
    } finally {
      request.signal?.removeEventListener("abort", cancel);
      await transaction.end();
    }
  }

  private async readModifyWrite(
    request: StockRequest,
    transaction: PgTransaction,
    leftMs: number,
  ): Promise<StockOutcome> {
    const { trace, target, quantity } = request;
    const lockTimeoutMs = Math.max(1, Math.floor(leftMs));
    const statements = [`SET LOCAL lock_timeout = ${lockTimeoutMs}`];
    await transaction.begin({ isolation: "SERIALIZABLE", statements, waitMs: 0 });
    const read = await this.run(request, transaction, { name: "read", values: [target.id] });
    if (read?.stock === undefined) throw this.error(request, "config_invalid", "the row to sell from does not exist");
    trace.readNs = nowNs();
    trace.readValue = read.stock;
    if (read.stock < quantity) {
      await transaction.commit();
      return { status: "sold_out" };
    }
    await this.parts.dependencies.clock.sleep(request.holdMs, request.signal);
    this.throwIfAborted(request);

    trace.writeNs = nowNs();
    trace.writtenValue = read.stock - quantity;
    const values = [target.id, trace.writtenValue, ...this.parts.store.orderValues(request, this.id)];
    const written = await this.run(request, transaction, { name: "writeAbsolute", values });
    if (written?.order_id === undefined) throw this.error(request, "config_invalid", "the row to sell from is gone");
    await transaction.commit();
    trace.writeAccepted = true;
    trace.committedNs = nowNs();
    return { status: "sold", orderId: written.order_id };
  }

  private run(
    request: StockRequest,
    transaction: PgTransaction,
    statement: { readonly name: StatementName; readonly values: readonly unknown[] },
  ): Promise<StockRow | undefined> {
    return this.parts.store.run(request, { ...statement, strategyId: this.id, tx: transaction.client.raw });
  }

  /** @returns null when every connection stayed in use for as long as the caller may wait */
  private async pin(request: StockRequest, leftMs: number): Promise<PinnedClient | null> {
    const { trace, signal } = request;
    const limitMs = Math.max(MIN_POOL_WAIT_MS, leftMs);
    const bounds = { clock: this.parts.dependencies.clock, limitMs, ...(signal ? { signal } : {}) };
    const requestedNs = nowNs();
    try {
      const client = await pinClient(this.parts.pool, bounds);
      if (!client) this.throwIfAborted(request);
      return client;
    } catch (error) {
      if (isLockError(error)) throw error;
      throw unavailable(error, { strategyId: this.id, resource: resourceOf(request.target) });
    } finally {
      recordPoolWait(trace, requestedNs, "wait");
    }
  }

  private throwIfAborted(request: StockRequest): void {
    if (request.signal?.aborted) throw this.error(request, "aborted", "the caller stopped waiting");
  }

  private error(request: StockRequest, code: "aborted" | "config_invalid", message: string): LockError {
    return new LockError({
      code,
      strategyId: this.id,
      resource: resourceOf(request.target),
      message,
      isDefinite: true,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The pool belongs to the process, not to the strategy.
  }
}
