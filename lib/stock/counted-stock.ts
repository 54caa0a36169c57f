import { isLockError, LockError } from "../locks/errors";
import type { RedisCommands } from "../locks/redis/redis-port";
import type { StrategyTraits } from "../locks/types";
import { nowNs } from "../services/monotonic";
import type { CountedRows } from "./counted-rows";
import { readDrift, reconcile } from "./reconcile";
import { RedisCounter, type Taken } from "./redis-counter";
import { isUniqueViolation, type StockRow, type StockStore } from "./stock-store";
import {
  type ReconcileOptions,
  type Reconciliation,
  resourceOf,
  type StockDrift,
  type StockOutcome,
  type StockRequest,
  type StockStrategy,
  type StockTarget,
} from "./types";

/** How a strategy takes units off the counter; the rest is the same for all. Fills in the trace as far as it goes. */
export interface CounterTaker extends AsyncDisposable {
  take(request: StockRequest, counter: RedisCounter): Promise<Taken | Contended>;
}

export type Contended = Extract<StockOutcome, { readonly status: "contended" }>;

type Counted = Exclude<Taken, { readonly status: "uncounted" }> | Contended;

/** A server that loses the counter as often as this while one buyer tries (eviction, restarts) keeps nothing. */
const MAX_STARTS = 3;

export interface CountedStockParts {
  readonly traits: StrategyTraits;
  readonly taker: CounterTaker;
  readonly store: StockStore;
  readonly rows: CountedRows;
  readonly redis: RedisCommands;
}

/**
 * Stock that is counted in Redis and sold in PostgreSQL: units leave the counter first, then one guarded statement takes
 * them off the row and writes the order.
 *
 * Between the two the journal knows of them. A write that failed gives its units back; one whose outcome is not
 * known, or whose process died, stays in the journal for `reconcile`. The row's guard holds whatever the counter says,
 * so that a counter that is wrong can sell too few, never too many.
 */
export class CountedStock implements StockStrategy {
  readonly id: string;
  readonly traits: StrategyTraits;
  private saidUnsettled = false;

  constructor(private readonly parts: CountedStockParts) {
    this.id = parts.traits.id;
    this.traits = parts.traits;
  }

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const { trace, target, quantity } = request;
    const counter = this.counter(target);
    const taken = await this.take(request, counter);
    if (taken.status === "sold_out") trace.readValue = taken.left;
    if (taken.status !== "taken") return taken;
    trace.readValue = taken.left + quantity;
    trace.writtenValue = taken.left;
    return this.writeOrder(request, counter);
  }

  async prepare(target: StockTarget, stock: number): Promise<void> {
    await this.counter(target).reset(stock, await this.parts.rows.buyers(target));
  }

  drift(target: StockTarget): Promise<StockDrift> {
    return readDrift(this.counter(target), this.parts.rows);
  }

  reconcile(target: StockTarget, options: ReconcileOptions = {}): Promise<Reconciliation> {
    return reconcile(this.counter(target), this.parts.rows, options);
  }

  /** A target that nobody has bought from yet, or whose counter the server has lost, is counted first. */
  private async take(request: StockRequest, counter: RedisCounter): Promise<Counted> {
    const { taker, rows } = this.parts;
    const { target } = request;
    for (let start = 0; start <= MAX_STARTS; start += 1) {
      const taken = await taker.take(request, counter);
      if (taken.status !== "uncounted") return taken;
      await counter.start(await rows.stock(target), await rows.buyers(target));
    }
    throw new LockError({
      code: "backend_unavailable",
      strategyId: this.id,
      resource: resourceOf(target),
      message: `Redis lost the counter ${MAX_STARTS} times over`,
      isDefinite: true,
    });
  }

  private async writeOrder(request: StockRequest, counter: RedisCounter): Promise<StockOutcome> {
    const { trace } = request;
    const written = await this.insert(request, counter);
    trace.writeAccepted = written !== "duplicate" && written?.order_id !== undefined;
    if (written === "duplicate") {
      await this.giveBack(request, counter, "remember");
      return { status: "already_claimed" };
    }
    if (written?.order_id === undefined) {
      // The row has fewer units than the counter said: somebody sells past the counter.
      await this.giveBack(request, counter, "forget");
      return { status: "sold_out" };
    }
    trace.committedNs = nowNs();
    await this.leaveToReconcile(request, counter.settle(trace.opId));
    return { status: "sold", orderId: written.order_id };
  }

  private async insert(request: StockRequest, counter: RedisCounter): Promise<StockRow | undefined | "duplicate"> {
    const { store } = this.parts;
    const values = [request.target.id, ...store.orderValues(request, this.id)];
    try {
      return await store.run(request, { name: "takeGuarded", values, strategyId: this.id });
    } catch (error) {
      if (isUniqueViolation(error)) return "duplicate";
      request.trace.writeAccepted = false;
      // Where the outcome is not known the order may be there: only `reconcile` may say what becomes of the units.
      if (!isLockError(error) || error.isDefinite) await this.giveBack(request, counter, "forget");
      throw error;
    }
  }

  private giveBack(request: StockRequest, counter: RedisCounter, buyer: "forget" | "remember"): Promise<void> {
    const { buyerId, quantity, trace } = request;
    return this.leaveToReconcile(request, counter.giveBack({ opId: trace.opId, buyerId, quantity }, buyer));
  }

  /** The buyer's answer does not hang on the journal: an entry that cannot be settled now is settled by `reconcile`. */
  private async leaveToReconcile(request: StockRequest, work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.saidUnsettled = false;
    } catch (error) {
      if (!this.saidUnsettled) {
        console.warn(`${this.id}: ${request.trace.opId} stays in the journal: ${(error as Error).message}`);
      }
      this.saidUnsettled = true;
    }
  }

  private counter(target: StockTarget): RedisCounter {
    return new RedisCounter(this.parts.redis, target, this.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parts.taker[Symbol.asyncDispose]();
  }
}
