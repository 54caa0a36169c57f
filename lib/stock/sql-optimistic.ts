import type { StrategyTraits } from "../locks/types";
import { elapsedMs, nowNs } from "../services/monotonic";
import { missingRowError } from "./missing-row";
import { retryDelayMs } from "./retry-delay";
import { isRowRejection, rowRejectionOf } from "./row-rejection";
import { sleepMs } from "./sleep";
import type { StockRow, StockStore } from "./stock-store";
import type {
  GiveBackOutcome,
  GiveBackRequest,
  RowRejection,
  StockOperation,
  StockOutcome,
  StockRequest,
  StockStrategy,
} from "./types";
import { clearWriteResult, recordFailedWrite, recordLostWrite } from "./write-record";

export const sqlOptimisticTraits: StrategyTraits = {
  id: "sql-optimistic",
  family: "sql",
  kind: "atomic",
  mechanism: "Reads the row's version and writes only if it has not changed; otherwise retries after a random delay.",
  remark: "retries",
  needs: ["postgres"],
  waiting: "retry",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
};

type Contended = Extract<StockOutcome, { readonly status: "contended" }>;

/**
 * Compare-and-set on a version column, with bounded retries and random delays.
 *
 * - Guarantees: a write succeeds only on the version it was computed from, so no update is lost.
 * - Breaks under: no fault of the lab. Under high contention most attempts fail, and buyers get `contended` at their timeout.
 * - Fencing token: the version serves as one. Clock: only the caller's, for the timeout.
 * - Units: integer stock units; `holdMs` passes between read and write of every attempt.
 *
 * @throws {LockError} `backend_unavailable`; `outcome_unknown` when the reply to a write is lost
 * @see https://www.postgresql.org/docs/current/mvcc-intro.html
 */
export class SqlOptimistic implements StockStrategy {
  readonly id = sqlOptimisticTraits.id;
  readonly traits = sqlOptimisticTraits;

  constructor(
    private readonly store: StockStore,
    private readonly random: () => number,
  ) {}

  reduceStock(request: StockRequest): Promise<StockOutcome> {
    return this.retryOnConflict(request, () => this.tryOnce(request));
  }

  giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    return this.retryOnConflict(request, () => this.tryToGiveBack(request));
  }

  private async retryOnConflict<T>(
    request: StockOperation,
    tryOnce: () => Promise<T | "conflict">,
  ): Promise<T | Contended> {
    const { trace } = request;
    const startedNs = nowNs();
    trace.waitNs = startedNs;
    for (let attempt = 1; ; attempt += 1) {
      trace.attempts = attempt;
      const outcome = await tryOnce();
      if (outcome !== "conflict") return outcome;
      const waitedMs = elapsedMs(startedNs);
      const delayMs = retryDelayMs(attempt, this.random);
      if (waitedMs + delayMs >= request.waitTimeoutMs || request.signal?.aborted) {
        return { status: "contended", waitedMs, attempts: attempt };
      }
      await sleepMs(delayMs);
    }
  }

  private async tryOnce(request: StockRequest): Promise<StockOutcome | "conflict"> {
    const { trace, target, quantity } = request;
    const read = await this.store.run(request, { name: "read", values: [target.id], strategyId: this.id });
    if (read?.stock === undefined || read.version === undefined) throw missingRowError(this.id, request.target);
    trace.readNs = nowNs();
    trace.readValue = read.stock;
    if (read.stock < quantity) return { status: "sold_out" };
    await sleepMs(request.holdMs);

    trace.writeNs = nowNs();
    trace.writtenValue = read.stock - quantity;
    clearWriteResult(trace);
    const written = await this.write(request, trace.writtenValue, read.version);
    if (isRowRejection(written)) return written;
    if (written?.order_id === undefined) {
      recordLostWrite(trace);
      return "conflict";
    }
    trace.writeAccepted = true;
    trace.committedNs = nowNs();
    return { status: "sold", orderId: written.order_id };
  }

  private async write(
    request: StockRequest,
    value: number,
    version: number,
  ): Promise<StockRow | undefined | RowRejection> {
    try {
      return await this.store.run(request, {
        name: "writeVersioned",
        values: [request.target.id, value, ...this.store.orderValues(request, this.id), version],
        strategyId: this.id,
      });
    } catch (error) {
      recordFailedWrite(request.trace, error);
      const rejection = rowRejectionOf(error);
      if (rejection) return rejection;
      throw error;
    }
  }

  private async tryToGiveBack(request: GiveBackRequest): Promise<GiveBackOutcome | "conflict"> {
    const strategyId = this.id;
    const read = await this.store.read(request, { name: "read", values: [request.target.id], strategyId });
    if (read?.stock === undefined || read.version === undefined) throw missingRowError(this.id, request.target);
    const values = [read.stock, read.version];
    const { due, released } = await this.store.release(request, { name: "releaseVersioned", values, strategyId });
    if (due > 0 && released.length === 0) return "conflict";
    return { status: "released", orders: released };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The pool belongs to the process, not to the strategy.
  }
}
