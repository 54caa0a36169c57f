import type { Pool } from "pg";
import { unavailable } from "../locks/postgres/sql-state";
import type { StrategyTraits } from "../locks/types";
import { nowNs } from "../services/monotonic";
import { BUCKETS, splitStock } from "./buckets";
import { giveBackRelative } from "./give-back";
import { rowRejectionOf } from "./row-rejection";
import { sleepMs } from "./sleep";
import type { StockRow, StockStore } from "./stock-store";
import {
  type GiveBackOutcome,
  type GiveBackRequest,
  resourceOf,
  type StockOutcome,
  type StockRequest,
  type StockStrategy,
  type StockTarget,
} from "./types";
import { recordFailedWrite } from "./write-record";

export const sqlBucketsTraits: StrategyTraits = {
  id: "sql-buckets",
  family: "sql",
  kind: "atomic",
  mechanism:
    "Splits the stock over 16 rows. A buyer takes from an unlocked row (SKIP LOCKED), else from any with enough stock.",
  remark: "no hot row",
  needs: ["postgres"],
  waiting: "row-queue",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
};

export interface SqlBucketsParts {
  readonly store: StockStore;
  readonly pool: Pool;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly buckets?: number;
}

/**
 * The guarded statement on one of many rows, so that buyers do not queue for one row while its commit reaches the disk.
 *
 * `prepare` splits the stock of a run over the buckets; the total stock is then the row plus its buckets. A purchase tries three
 * statements: an unlocked bucket with enough units; a bucket with enough units, waiting for its lock; all buckets and the
 * row, with every bucket locked. Only the last can report "sold out". Outside runs there are no buckets, and this strategy behaves as
 * `sql-guarded`.
 *
 * - Guarantees: no bucket below zero, one order per unit, and no false "sold out", even if the last units are locked or
 *   spread over several buckets.
 * - Breaks under: no fault of the lab. A lost reply leaves the outcome unknown (0 or 1 order). Buyers are not served in order.
 * - Fencing token: none needed. Clock: none. Units: integer stock units; `holdMs` passes before the first statement.
 * - SQL: `takeFromFreeBucket`, `takeFromBusyBucket`, `takeFromAll` (bucket-sql.ts); each is atomic and includes the order.
 *
 * The trace has stock values only if all units came from the row, because the count of one bucket is not the total stock.
 *
 * @throws {LockError} `backend_unavailable`; `outcome_unknown` when a reply is lost
 * @see https://www.postgresql.org/docs/current/sql-select.html#SQL-FOR-UPDATE-SHARE
 */
export class SqlBuckets implements StockStrategy {
  readonly id = sqlBucketsTraits.id;
  readonly traits = sqlBucketsTraits;
  private readonly buckets: number;

  constructor(private readonly parts: SqlBucketsParts) {
    this.buckets = parts.buckets ?? BUCKETS;
  }

  async prepare(target: StockTarget, stock: number): Promise<void> {
    try {
      await splitStock(this.parts.pool, target, { units: stock, buckets: this.buckets });
    } catch (error) {
      throw unavailable(error, { strategyId: this.id, resource: resourceOf(target) });
    }
  }

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const { trace } = request;
    await sleepMs(request.holdMs);
    trace.writeNs = nowNs();
    try {
      const row = await this.take(request);
      trace.writeAccepted = row?.order_id !== undefined;
      if (row?.order_id === undefined) return { status: "sold_out" };
      trace.committedNs = nowNs();
      if (typeof row.stock === "number") this.recordRow(request, row.stock);
      return { status: "sold", orderId: row.order_id };
    } catch (error) {
      recordFailedWrite(trace, error);
      const rejection = rowRejectionOf(error);
      if (!rejection) throw error;
      return rejection;
    }
  }

  /** Returns the units to the row. A purchase checks the row before it reports "sold out". */
  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    return giveBackRelative(this.parts.store, request, this.id);
  }

  private async take(request: StockRequest): Promise<StockRow | undefined> {
    const { trace, target } = request;
    const order = [target.id, ...this.parts.store.orderValues(request, this.id)];
    const withStart = [...order, Math.floor(this.parts.random() * this.buckets), this.buckets];
    const strategyId = this.id;
    trace.attempts = 1;
    const free = await this.parts.store.run(request, { name: "takeFromFreeBucket", values: withStart, strategyId });
    if (free) return free;
    trace.attempts = 2;
    const busy = await this.parts.store.run(request, { name: "takeFromBusyBucket", values: withStart, strategyId });
    if (busy) return busy;
    trace.attempts = 3;
    return this.parts.store.run(request, { name: "takeFromAll", values: order, strategyId });
  }

  private recordRow({ trace, quantity }: StockRequest, stock: number): void {
    trace.readNs = trace.writeNs as bigint;
    trace.readValue = stock + quantity;
    trace.writtenValue = stock;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The pool belongs to the process, not to the strategy.
  }
}
