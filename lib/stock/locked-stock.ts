import type { PoolClient } from "pg";
import { isLockError, LockError } from "../locks/errors";
import type { Grant, LockRequest, LockStrategy, LockTimings } from "../locks/types";
import { nowNs } from "../services/monotonic";
import { type DelayPoint, type Failpoint, unarmed, undelayed } from "./failpoint";
import { isRowRejection, rowRejectionOf } from "./row-rejection";
import { sleepMs } from "./sleep";
import type { Released, Statement, StockRow, StockStore } from "./stock-store";
import {
  type GiveBackOutcome,
  type GiveBackRequest,
  type OperationTrace,
  type RowRejection,
  resourceOf,
  type StockOperation,
  type StockOutcome,
  type StockRequest,
  type StockStrategy,
} from "./types";

/** Steps of the critical section that callers can replace. */
export interface SectionHooks {
  /** The business logic. The simulator replaces it to use its own clock. */
  readonly work?: (holdMs: number) => Promise<void>;
  /** Synchronous, so that no timer of the lease runs between it and the write. */
  readonly beforeWrite?: Failpoint;
  readonly inWork?: DelayPoint;
}

/**
 * A lock around the naive read-modify-write of real code: read the stock, work for `holdMs`, write the absolute value back and
 * insert the order. A lock that fails therefore produces a wrong stock value.
 *
 * If the lock has a fencing token, the read registers it in the row and the write requires it. A check at the write alone would let
 * a stale holder write between the read and the write of a newer holder. `fencing: false` disables the check, to show
 * the difference.
 */
export class LockedStock implements StockStrategy {
  readonly id: string;
  readonly traits: LockStrategy["traits"];
  private readonly hooks: Required<SectionHooks>;

  constructor(
    private readonly lock: LockStrategy,
    private readonly store: StockStore,
    { work = sleepMs, beforeWrite = unarmed, inWork = undelayed }: SectionHooks = {},
  ) {
    this.id = lock.id;
    this.traits = lock.traits;
    this.hooks = { work, beforeWrite, inWork };
  }

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const { trace } = request;
    trace.waitNs = nowNs();
    try {
      const outcome = await this.lock.runGuarded(lockRequestOf(request), (grant) =>
        this.criticalSection(request, grant),
      );
      if (outcome.status === "contended") {
        trace.attempts = outcome.attempts;
        return { status: "contended", waitedMs: outcome.waitedMs, attempts: outcome.attempts };
      }
      recordTimings(trace, outcome.timings);
      // If a transaction holds the lock, the sale is valid from its commit, which runGuarded has done.
      if (outcome.value.status === "sold") trace.committedNs ??= nowNs();
      return outcome.value;
    } catch (error) {
      if (error instanceof RowRejectedError) return error.rejection;
      throw error;
    }
  }

  /** Reads and writes the absolute value under the same lock as a purchase, without business logic. */
  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    request.trace.waitNs = nowNs();
    const outcome = await this.lock.runGuarded(lockRequestOf(request), (grant) => this.readAndReturn(request, grant));
    if (outcome.status === "completed") return { status: "released", orders: outcome.value.released };
    return { status: "contended", waitedMs: outcome.waitedMs, attempts: outcome.attempts };
  }

  private async readAndReturn(request: GiveBackRequest, grant: Grant): Promise<Released> {
    const row = await this.store.read(request, this.readStatement(request, grant));
    if (row?.stock === undefined) throw this.fenceStale(request);
    if (grant.signal.aborted) throw this.leaseLost(request);
    const token = fencingTokenOf(request, grant);
    const outcome = await this.store.release(request, {
      name: token === null ? "releaseAbsolute" : "releaseFenced",
      values: token === null ? [row.stock] : [row.stock, token],
      strategyId: this.id,
      tx: grant.tx as PoolClient | undefined,
    });
    if (outcome.due > 0 && outcome.released.length === 0) throw this.fenceStale(request);
    return outcome;
  }

  private async criticalSection(request: StockRequest, grant: Grant): Promise<StockOutcome> {
    const { trace } = request;
    trace.grantedNs = nowNs();
    trace.holderId = grant.holderId;
    if (grant.fencingToken !== null) trace.fencingToken = grant.fencingToken;
    if (grant.tx !== null) trace.transactional = true;
    const onLost = () => {
      trace.leaseLostNs ??= nowNs();
    };
    grant.signal.addEventListener("abort", onLost, { once: true });
    try {
      return await this.readModifyWrite(request, grant);
    } finally {
      grant.signal.removeEventListener("abort", onLost);
      // The critical section ends here; the release request follows.
      trace.releasedNs = nowNs();
    }
  }

  private async readModifyWrite(request: StockRequest, grant: Grant): Promise<StockOutcome> {
    const { trace } = request;
    const stock = await this.read(request, grant);
    trace.readNs = nowNs();
    trace.readValue = stock;
    if (stock < request.quantity) return { status: "sold_out" };
    await this.hooks.work(request.holdMs);
    const delay = this.hooks.inWork(request);
    if (delay !== null) await delay;
    if (grant.signal.aborted) throw this.leaseLost(request);
    recordLeaseEnd(trace, grant.leaseLeftMs());
    this.hooks.beforeWrite(request);

    trace.writeNs = nowNs();
    trace.writtenValue = stock - request.quantity;
    const row = await this.write(request, grant, trace.writtenValue);
    trace.writeAccepted = row !== undefined && !isRowRejection(row);
    // Thrown, so that a lock held by a transaction rolls it back.
    if (isRowRejection(row)) throw new RowRejectedError(row);
    if (row?.order_id === undefined) throw this.fenceStale(request);
    if (grant.tx === null) trace.committedNs = nowNs();
    return { status: "sold", orderId: row.order_id };
  }

  private async read(request: StockRequest, grant: Grant): Promise<number> {
    const row = await this.store.run(request, this.readStatement(request, grant));
    if (row?.stock === undefined) throw this.fenceStale(request);
    return row.stock;
  }

  private readStatement(request: StockOperation, grant: Grant): Statement {
    const token = fencingTokenOf(request, grant);
    return {
      name: token === null ? "read" : "readFenced",
      values: token === null ? [request.target.id] : [request.target.id, token],
      strategyId: this.id,
      tx: grant.tx as PoolClient | undefined,
    };
  }

  private async write(
    request: StockRequest,
    grant: Grant,
    value: number,
  ): Promise<StockRow | undefined | RowRejection> {
    const order = this.store.orderValues(request, this.id);
    const token = fencingTokenOf(request, grant);
    try {
      return await this.store.run(request, {
        name: token === null ? "writeAbsolute" : "writeFenced",
        values: [request.target.id, value, ...order, ...(token === null ? [] : [token])],
        strategyId: this.id,
        tx: grant.tx as PoolClient | undefined,
      });
    } catch (error) {
      const rejection = rowRejectionOf(error);
      if (rejection) return rejection;
      if (isLockError(error) && error.isDefinite) request.trace.writeAccepted = false;
      throw error;
    }
  }

  private leaseLost(request: StockOperation): LockError {
    return new LockError({
      code: "lease_lost",
      strategyId: this.id,
      resource: resourceOf(request.target),
      message: "the lease was lost before the write; nothing was written, so a retry is safe",
      isDefinite: true,
    });
  }

  private fenceStale(request: StockOperation): LockError {
    return new LockError({
      code: "fence_stale",
      strategyId: this.id,
      resource: resourceOf(request.target),
      message: "PostgreSQL has seen the fencing token of a newer holder and rejected this one; nothing was written",
      isDefinite: true,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lock[Symbol.asyncDispose]();
  }
}

/** Ends the critical section of a purchase that the row rejected. */
class RowRejectedError extends Error {
  constructor(readonly rejection: RowRejection) {
    super(rejection.status);
  }
}

function lockRequestOf({ target, waitTimeoutMs, ttlMs, signal }: StockOperation): LockRequest {
  return { resource: resourceOf(target), waitTimeoutMs, ttlMs, ...(signal ? { signal } : {}) };
}

/** The wait for the lock starts after the wait for a pooled connection, so `waitNs` moves by the latter. */
function recordTimings(trace: OperationTrace, { attempts, poolWaitMs }: LockTimings): void {
  trace.attempts = attempts;
  if (poolWaitMs === 0) return;
  const poolWaitNs = BigInt(Math.round(poolWaitMs * 1e6));
  trace.poolWaitNs = (trace.poolWaitNs ?? 0n) + poolWaitNs;
  if (trace.waitNs !== undefined) trace.waitNs += poolWaitNs;
}

/** The end of the lease, before anything can stop the holder: a write after it is stale although the holder has not noticed. */
function recordLeaseEnd(trace: OperationTrace, leftMs: number): void {
  if (leftMs !== Infinity) trace.leaseUntilNs = nowNs() + BigInt(Math.round(leftMs * 1e6));
}

/** The token that PostgreSQL checks; null if the lock has none or the run disables the check. */
function fencingTokenOf(request: StockOperation, grant: Grant): bigint | null {
  return request.fencing === false ? null : grant.fencingToken;
}
