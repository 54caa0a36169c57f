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

export const sqlBucketsTraits: StrategyTraits = {
  id: "sql-buckets",
  family: "sql",
  kind: "atomic",
  mechanism: "The stock dealt out over 16 rows: each buyer takes from one that is free (SKIP LOCKED), else steals.",
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
 * The guarded statement on one of many rows, so that buyers do not queue for the same one while its commit reaches the disk.
 *
 * A run deals the stock out (`prepare`); the target's whole stock is then its row plus its buckets. A purchase tries, until
 * one gives: a bucket that is free and has enough; one that has enough, waiting for it; all that is left, over several
 * buckets and the row, with every bucket locked. Only the last may say "sold out". Without buckets, outside of
 * runs, the row is all there is, and this is `sql-guarded`.
 *
 * - Guarantees: never below zero in any bucket, one order a unit, and no unit overlooked: neither one in a bucket that
 *   somebody had locked, nor a quantity that is there but spread over several.
 * - Breaks under: nothing in FAULTS; a lost reply leaves the outcome unknown (0 or 1 order), never two. No order of arrival.
 * - Fencing token: none, and none is needed. Clock: none. Units: integer stock units; `holdMs` is spent beforehand.
 * - SQL: `takeFromFreeBucket`, `takeFromBusyBucket`, `takeFromAll` (bucket-sql.ts); each is atomic, order included.
 *
 * The trace carries stock values only for units from the row: a bucket's count says nothing of the whole.
 *
 * @throws {LockError} `backend_unavailable`, `outcome_unknown` when a reply was lost
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
      const refusal = rowRejectionOf(error);
      if (!refusal) throw error;
      trace.writeAccepted = false;
      return refusal;
    }
  }

  /** To the row: whoever finds the buckets empty looks there before saying "sold out". */
  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    return giveBackRelative(this.parts.store, request, this.id);
  }

  private async take(request: StockRequest): Promise<StockRow | undefined> {
    const { trace, target } = request;
    const order = [target.id, ...this.parts.store.orderValues(request, this.id)];
    const placed = [...order, Math.floor(this.parts.random() * this.buckets), this.buckets];
    const strategyId = this.id;
    trace.attempts = 1;
    const free = await this.parts.store.run(request, { name: "takeFromFreeBucket", values: placed, strategyId });
    if (free) return free;
    trace.attempts = 2;
    const busy = await this.parts.store.run(request, { name: "takeFromBusyBucket", values: placed, strategyId });
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
