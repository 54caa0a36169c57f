import type { StrategyTraits } from "../locks/types";
import { nowNs } from "../services/monotonic";
import { giveBackRelative } from "./give-back";
import { rowRejectionOf } from "./row-rejection";
import { sleepMs } from "./sleep";
import type { StockStore } from "./stock-store";
import type { GiveBackOutcome, GiveBackRequest, StockOutcome, StockRequest, StockStrategy } from "./types";
import { recordFailedWrite } from "./write-record";

export const sqlGuardedTraits: StrategyTraits = {
  id: "sql-guarded",
  family: "sql",
  kind: "atomic",
  mechanism: "Runs UPDATE ... SET stock = stock - n WHERE stock >= n, with the order in the same statement.",
  remark: "one statement",
  needs: ["postgres"],
  waiting: "row-queue",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
};

/**
 * One conditional statement takes the units and writes the order, or does neither.
 *
 * - Guarantees: stock never below zero and one order per unit. The row lock lasts only as long as the statement.
 * - Breaks under: no fault of the lab. A lost reply leaves the outcome unknown (0 or 1 order).
 * - Fencing token: none needed, because there is no gap between check and write.
 * - Clock: none. Units: integer stock units; `holdMs` passes before the statement, because nothing is held.
 *
 * @throws {LockError} `backend_unavailable` before the statement is sent; `outcome_unknown` when its reply is lost
 * @see https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
 */
export class SqlGuarded implements StockStrategy {
  readonly id = sqlGuardedTraits.id;
  readonly traits = sqlGuardedTraits;

  constructor(private readonly store: StockStore) {}

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const { trace, target, quantity } = request;
    await sleepMs(request.holdMs);
    trace.attempts = 1;
    trace.writeNs = nowNs();
    try {
      const row = await this.store.run(request, {
        name: "takeGuarded",
        values: [target.id, ...this.store.orderValues(request, this.id)],
        strategyId: this.id,
      });
      trace.writeAccepted = row !== undefined;
      if (row?.order_id === undefined || row.stock === undefined) return { status: "sold_out" };
      trace.committedNs = nowNs();
      // The statement returns the new value only; the value it read follows from it.
      trace.readNs = trace.writeNs;
      trace.readValue = row.stock + quantity;
      trace.writtenValue = row.stock;
      return { status: "sold", orderId: row.order_id };
    } catch (error) {
      recordFailedWrite(trace, error);
      const rejection = rowRejectionOf(error);
      if (!rejection) throw error;
      return rejection;
    }
  }

  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    return giveBackRelative(this.store, request, this.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The pool belongs to the process, not to the strategy.
  }
}
