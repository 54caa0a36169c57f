import type { PoolClient } from "pg";
import { LockError } from "../locks/errors";
import type { Grant, LockRequest, LockStrategy, LockTimings } from "../locks/types";
import { nowNs } from "../services/monotonic";
import { sleepMs } from "./sleep";
import { isUniqueViolation, type StockRow, type StockStore } from "./stock-store";
import { type OperationTrace, resourceOf, type StockOutcome, type StockRequest, type StockStrategy } from "./types";

/**
 * A lock round the naive read-modify-write that real code has: read the stock, compute, work for `holdMs`, write the
 * absolute value back and insert the order. A lock that fails therefore shows.
 *
 * Where the lock has a fencing token, it is registered at the first read and required at the write; a check at the
 * write alone would let a stale holder in between a newer holder's read and its write. `fencing: false` leaves the token
 * unchecked, so that the difference shows.
 */
export class LockedStock implements StockStrategy {
  readonly id: string;
  readonly traits: LockStrategy["traits"];

  constructor(
    private readonly lock: LockStrategy,
    private readonly store: StockStore,
    /** The business logic's; a simulator brings one on a clock of its own. */
    private readonly work: (holdMs: number) => Promise<void> = sleepMs,
  ) {
    this.id = lock.id;
    this.traits = lock.traits;
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
      noteTimings(trace, outcome.timings);
      // Where the lock lives in a transaction, the sale counts from its commit, which is through now.
      if (outcome.value.status === "sold") trace.committedNs ??= nowNs();
      return outcome.value;
    } catch (error) {
      if (error instanceof AlreadyClaimed) return { status: "already_claimed" };
      throw error;
    }
  }

  private async criticalSection(request: StockRequest, grant: Grant): Promise<StockOutcome> {
    const { trace } = request;
    trace.grantedNs = nowNs();
    trace.holderId = grant.holderId;
    if (grant.fencingToken !== null) trace.fencingToken = grant.fencingToken;
    const onLost = () => {
      trace.leaseLostNs ??= nowNs();
    };
    grant.signal.addEventListener("abort", onLost, { once: true });
    try {
      return await this.readModifyWrite(request, grant);
    } finally {
      grant.signal.removeEventListener("abort", onLost);
      // The hold ends here; when the server learns of it is the lock's business.
      trace.releasedNs = nowNs();
    }
  }

  private async readModifyWrite(request: StockRequest, grant: Grant): Promise<StockOutcome> {
    const { trace } = request;
    const stock = await this.read(request, grant);
    trace.readNs = nowNs();
    trace.readValue = stock;
    if (stock < request.quantity) return { status: "sold_out" };
    await this.work(request.holdMs);
    if (grant.signal.aborted) throw this.leaseLost(request);

    trace.writeNs = nowNs();
    trace.writtenValue = stock - request.quantity;
    const row = await this.write(request, grant, trace.writtenValue);
    trace.writeAccepted = row !== undefined && row !== "duplicate";
    // Thrown, so that a lock that lives in a transaction rolls it back.
    if (row === "duplicate") throw new AlreadyClaimed();
    if (row?.order_id === undefined) throw this.fenceStale(request);
    if (grant.tx === null) trace.committedNs = nowNs();
    return { status: "sold", orderId: row.order_id };
  }

  private async read(request: StockRequest, grant: Grant): Promise<number> {
    const token = fencingTokenOf(request, grant);
    const row = await this.store.run(request, {
      name: token === null ? "read" : "readFenced",
      values: token === null ? [request.target.id] : [request.target.id, token],
      strategyId: this.id,
      tx: grant.tx as PoolClient | undefined,
    });
    if (row?.stock === undefined) throw this.fenceStale(request);
    return row.stock;
  }

  private async write(request: StockRequest, grant: Grant, value: number): Promise<StockRow | undefined | "duplicate"> {
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
      if (isUniqueViolation(error)) return "duplicate";
      throw error;
    }
  }

  private leaseLost(request: StockRequest): LockError {
    return new LockError({
      code: "lease_lost",
      strategyId: this.id,
      resource: resourceOf(request.target),
      message: "the lease was lost before the write; nothing was written",
      isDefinite: true,
    });
  }

  private fenceStale(request: StockRequest): LockError {
    return new LockError({
      code: "fence_stale",
      strategyId: this.id,
      resource: resourceOf(request.target),
      message: "a newer holder has been seen; the stale operation was refused",
      isDefinite: true,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lock[Symbol.asyncDispose]();
  }
}

/** Ends the critical section of a buyer who has the coupon already. */
class AlreadyClaimed extends Error {}

function lockRequestOf({ target, waitTimeoutMs, ttlMs, signal }: StockRequest): LockRequest {
  return { resource: resourceOf(target), waitTimeoutMs, ttlMs, ...(signal ? { signal } : {}) };
}

/** Waiting for a pooled connection is not waiting for the lock: the latter began when the connection was there. */
function noteTimings(trace: OperationTrace, { attempts, poolWaitMs }: LockTimings): void {
  trace.attempts = attempts;
  if (poolWaitMs === 0) return;
  const poolWaitNs = BigInt(Math.round(poolWaitMs * 1e6));
  trace.poolWaitNs = (trace.poolWaitNs ?? 0n) + poolWaitNs;
  if (trace.waitNs !== undefined) trace.waitNs += poolWaitNs;
}

/** The token PostgreSQL is to check; null where there is none, or where it is to be left out. */
function fencingTokenOf(request: StockRequest, grant: Grant): bigint | null {
  return request.fencing === false ? null : grant.fencingToken;
}
