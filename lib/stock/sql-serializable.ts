import type { Pool } from "pg";
import { createBackoff } from "../locks/backoff";
import { isLockError, LockError } from "../locks/errors";
import { COMMIT_LIMIT_MS, PgTransaction } from "../locks/postgres/pg-transaction";
import { type PinnedClient, pinClient } from "../locks/postgres/pinned-client";
import { isBusy, SQL_STATE, sqlStateOf, unavailable } from "../locks/postgres/sql-state";
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
import { clearWriteResult, recordLostWrite } from "./write-record";

export const sqlSerializableTraits: StrategyTraits = {
  id: "sql-serializable",
  family: "sql",
  kind: "atomic",
  mechanism: "Reads and writes in a SERIALIZABLE transaction; PostgreSQL rolls back the second of two, which retries.",
  remark: "retries",
  needs: ["postgres"],
  waiting: "retry",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
};

/** Full jitter between 0 and a bound that doubles, so that transactions that collided do not collide again. */
const RETRY_BACKOFF = { minMs: 0, startMs: 8, growth: 2, perWaiterMs: 128, maxMs: 128 };
/** Minimum time to wait for a free connection, even with a wait timeout of 0. */
const MIN_POOL_WAIT_MS = 1_000;
const CANCEL_LIMIT_MS = 300;

export interface SqlSerializableParts {
  readonly store: StockStore;
  readonly pool: Pool;
  readonly dependencies: Pick<RunnerDependencies, "clock" | "random">;
}

/**
 * PostgreSQL's serializable isolation: the transactions behave as if they ran one after another.
 *
 * - Guarantees: the same as `sql-row-lock`, without locking a named row. Also covers rows that are read and not written.
 * - Breaks under: no fault of the lab. Throughput collapses under high contention: of the transactions that read the same stock, one
 *   commits. The others fail (40001, rarely 40P01) and retry after a random delay until `waitTimeoutMs`, then return
 *   `contended`. `trace.attempts` counts the attempts.
 * - Fencing token: none needed; PostgreSQL rejects the late write. Clock: only the caller's, for the timeout.
 * - Units: integer stock units, milliseconds; `holdMs` passes between read and write of every attempt.
 * - SQL: BEGIN ISOLATION LEVEL SERIALIZABLE, `read`, `writeAbsolute`, COMMIT. "Sold out" is valid only after its COMMIT, because
 *   a read can fail to serialize until then.
 *
 * An attempt uses one pooled connection. It holds none during the delay between attempts.
 *
 * @throws {LockError} `backend_unavailable`, `aborted`; `outcome_unknown` when the reply to COMMIT is lost
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

  /** One statement. PostgreSQL rolls back a concurrent purchase, which then retries. */
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
      if (isLockError(error) && !error.isDefinite) throw error;
      // Every other failure rolls the transaction back.
      if (request.trace.writeNs !== undefined) recordLostWrite(request.trace);
      this.throwIfAborted(request);
      const rejection = rowRejectionOf(error);
      if (rejection) return rejection;
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
    if (read?.stock === undefined)
      throw this.error(
        request,
        "config_invalid",
        `the row of ${resourceOf(target)} does not exist; create it or choose another target`,
      );
    trace.readNs = nowNs();
    trace.readValue = read.stock;
    if (read.stock < quantity) {
      await transaction.commit(COMMIT_LIMIT_MS);
      return { status: "sold_out" };
    }
    await this.parts.dependencies.clock.sleep(request.holdMs, request.signal);
    this.throwIfAborted(request);

    trace.writeNs = nowNs();
    trace.writtenValue = read.stock - quantity;
    clearWriteResult(trace);
    const values = [target.id, trace.writtenValue, ...this.parts.store.orderValues(request, this.id)];
    const written = await this.run(request, transaction, { name: "writeAbsolute", values });
    if (written?.order_id === undefined)
      throw this.error(request, "config_invalid", `the row of ${resourceOf(target)} was deleted during the sale`);
    await transaction.commit(COMMIT_LIMIT_MS);
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

  /** @returns null when no connection became free within the wait timeout */
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
    if (request.signal?.aborted)
      throw this.error(request, "aborted", "the caller aborted the purchase; nothing was written");
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
