import type { StrategyTraits } from "../locks/types";
import { nowNs } from "../services/monotonic";
import { giveBackRelative } from "./give-back";
import { rowRejectionOf } from "./row-rejection";
import { sleepMs } from "./sleep";
import type { StockStore } from "./stock-store";
import type { GiveBackOutcome, GiveBackRequest, StockOutcome, StockRequest, StockStrategy } from "./types";

export const sqlGuardedTraits: StrategyTraits = {
  id: "sql-guarded",
  family: "sql",
  kind: "atomic",
  mechanism: "UPDATE ... SET stock = stock - n WHERE stock >= n, with the order in the same statement.",
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
 * - Guarantees: never below zero, one order a unit, whatever the clients do; the row lock lives inside the statement.
 * - Breaks under: nothing in FAULTS; a lost reply leaves the outcome unknown (0 or 1 order), never two.
 * - Fencing token: none, and none is needed: there is no gap between the check and the write.
 * - Clock: none. Units: integer stock units; `holdMs` is spent before the statement, since nothing is held.
 *
 * @throws {LockError} `backend_unavailable` before the statement was sent, `outcome_unknown` when its reply was lost
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
      // The statement read and wrote in one step; the value it read follows from the one it wrote.
      trace.readNs = trace.writeNs;
      trace.readValue = row.stock + quantity;
      trace.writtenValue = row.stock;
      return { status: "sold", orderId: row.order_id };
    } catch (error) {
      const refusal = rowRejectionOf(error);
      if (!refusal) throw error;
      trace.writeAccepted = false;
      return refusal;
    }
  }

  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    return giveBackRelative(this.store, request, this.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The pool belongs to the process, not to the strategy.
  }
}
