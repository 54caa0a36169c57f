import type { StrategyTraits } from "../locks/types";
import { nowNs } from "../services/monotonic";
import { giveBackRelative } from "./give-back";
import { missingRowError } from "./missing-row";
import { isRowRejection, rowRejectionOf } from "./row-rejection";
import { sleepMs } from "./sleep";
import type { StockRow, StockStore } from "./stock-store";
import type {
  GiveBackOutcome,
  GiveBackRequest,
  RowRejection,
  StockOutcome,
  StockRequest,
  StockStrategy,
} from "./types";
import { recordFailedWrite } from "./write-record";

export const sqlDecrementTraits: StrategyTraits = {
  id: "sql-decrement",
  family: "sql",
  kind: "atomic",
  mechanism: "Checks the stock in one statement and runs SET stock = stock - n in the next, without a condition.",
  remark: "goes below 0",
  needs: ["postgres"],
  waiting: "none",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "unsafe", threeNodes: "unsafe" },
  survives: { holderCrash: "not-applicable", holderPause: "not-applicable", serverRestart: "not-applicable" },
};

/**
 * Checks the stock, works for a while, then decrements the current stock without a condition. This causes the "-1 coupons left"
 * of real shops.
 *
 * - Guarantees: no lost update; orders and stock always match.
 * - Breaks under: two concurrent buyers, even in one process. Every buyer who saw the last unit takes one, so the stock drops
 *   below zero by the number of buyers between check and decrement. `sql-guarded` has the condition in the decrement.
 * - Fencing token: none. Clock: none. Units: integer stock units; `holdMs` passes between the two statements.
 * - SQL: `read` (id -> stock), then `takeUnguarded` (id, order -> order id, stock after). Each is atomic; the pair is not.
 *
 * @throws {LockError} `backend_unavailable`; `outcome_unknown` when the reply to the decrement is lost
 * @see https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
 */
export class SqlDecrement implements StockStrategy {
  readonly id = sqlDecrementTraits.id;
  readonly traits = sqlDecrementTraits;

  constructor(private readonly store: StockStore) {}

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const { trace, target, quantity } = request;
    trace.attempts = 1;
    const read = await this.store.run(request, { name: "read", values: [target.id], strategyId: this.id });
    if (read?.stock === undefined) throw missingRowError(this.id, request.target);
    trace.readNs = nowNs();
    trace.readValue = read.stock;
    if (read.stock < quantity) return { status: "sold_out" };
    await sleepMs(request.holdMs);

    trace.writeNs = nowNs();
    const row = await this.decrement(request);
    trace.writeAccepted = !isRowRejection(row) && row?.order_id !== undefined;
    if (isRowRejection(row)) return row;
    if (row?.order_id === undefined || row.stock === undefined) throw missingRowError(this.id, request.target);
    trace.committedNs = nowNs();
    trace.writtenValue = row.stock;
    return { status: "sold", orderId: row.order_id };
  }

  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    return giveBackRelative(this.store, request, this.id);
  }

  private async decrement(request: StockRequest): Promise<StockRow | undefined | RowRejection> {
    const values = [request.target.id, ...this.store.orderValues(request, this.id)];
    try {
      return await this.store.run(request, { name: "takeUnguarded", values, strategyId: this.id });
    } catch (error) {
      recordFailedWrite(request.trace, error);
      const rejection = rowRejectionOf(error);
      if (rejection) return rejection;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The pool belongs to the process, not to the strategy.
  }
}
