import { isLockError, LockError } from "../locks/errors";
import type { RedisCommands } from "../locks/redis/redis-port";
import type { StrategyTraits } from "../locks/types";
import { log } from "../services/log";
import { nowNs } from "../services/monotonic";
import type { CounterQueries } from "./counter-queries";
import { giveBackRelative } from "./give-back";
import { readDrift, reconcile } from "./reconcile";
import { listJournals, RedisCounter, type Take, type TakeResult } from "./redis-counter";
import { returnOpId } from "./redis-journal";
import { isRowRejection, rowRejectionOf } from "./row-rejection";
import type { StockRow, StockStore } from "./stock-store";
import {
  type GiveBackOutcome,
  type GiveBackRequest,
  type HeldOrder,
  type ReconcileOptions,
  type Reconciliation,
  type RowRejection,
  resourceOf,
  type StockDrift,
  type StockOutcome,
  type StockRequest,
  type StockStrategy,
  type StockTarget,
} from "./types";

/** How a strategy takes units off the counter; the rest is the same for all. Fills in the trace as far as it goes. */
export interface CounterTaker extends AsyncDisposable {
  take(request: StockRequest, counter: RedisCounter): Promise<TakeResult | Contended>;
}

export type Contended = Extract<StockOutcome, { readonly status: "contended" }>;

type Counted = Exclude<TakeResult, { readonly status: "no_counter" }> | Contended;

/** A server that loses the counter as often as this while one buyer tries (eviction, restarts) keeps nothing. */
const MAX_STARTS = 3;

export interface RedisCountedStockParts {
  readonly traits: StrategyTraits;
  readonly taker: CounterTaker;
  readonly store: StockStore;
  readonly queries: CounterQueries;
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
export class RedisCountedStock implements StockStrategy {
  readonly id: string;
  readonly traits: StrategyTraits;
  private hasWarned = false;

  constructor(private readonly parts: RedisCountedStockParts) {
    this.id = parts.traits.id;
    this.traits = parts.traits;
  }

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const { trace, target, quantity } = request;
    const counter = this.counter(target);
    const taken = await this.take(request, counter);
    if (taken.status === "contended") return taken;
    if (taken.status === "at_limit") return { status: target.kind === "coupon" ? "already_claimed" : "limit_reached" };
    if (taken.status === "sold_out") {
      trace.readValue = taken.left;
      return { status: "sold_out" };
    }
    trace.readValue = taken.left + quantity;
    trace.writtenValue = taken.left;
    return this.writeOrder(request, counter);
  }

  /**
   * PostgreSQL first, where each unit comes back once; then the counter. In between the journal knows of them, so that a
   * crash leaves units that nobody can buy for a while, never units that are not there.
   */
  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    const counter = this.counter(request.target);
    const entryOf = ({ orderId, buyerId, quantity }: HeldOrder): Take => {
      return { opId: returnOpId({ orderId, opId: request.trace.opId }), buyerId, quantity };
    };
    await counter.announceReturn(request.orders.map(entryOf));
    const outcome = await this.release(request, () => this.removeEntries(counter, request.orders.map(entryOf)));
    const released = new Set(outcome.orders.map(({ orderId }) => orderId));
    for (const order of request.orders) {
      const entry = entryOf(order);
      const work = released.has(order.orderId)
        ? counter.giveBack(entry, "remove_buyer")
        : counter.removeEntry(entry.opId);
      await this.bestEffort(entry.opId, work);
    }
    return outcome;
  }

  async prepare(target: StockTarget, stock: number): Promise<void> {
    await this.counter(target).reset(stock, await this.parts.queries.buyers(target));
  }

  drift(target: StockTarget): Promise<StockDrift> {
    return readDrift(this.counter(target), this.parts.queries);
  }

  journalledTargets(): Promise<readonly StockTarget[]> {
    return listJournals(this.parts.redis, this.id);
  }

  reconcile(target: StockTarget, options: ReconcileOptions = {}): Promise<Reconciliation> {
    return reconcile(this.counter(target), this.parts.queries, options);
  }

  /** A target that nobody has bought from yet, or whose counter the server has lost, is counted first. */
  private async take(request: StockRequest, counter: RedisCounter): Promise<Counted> {
    const { taker, queries } = this.parts;
    const { target } = request;
    for (let start = 0; start <= MAX_STARTS; start += 1) {
      const taken = await taker.take(request, counter);
      if (taken.status !== "no_counter") return taken;
      await counter.initialize(await queries.stock(target), await queries.buyers(target));
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
    trace.writeAccepted = !isRowRejection(written) && written?.order_id !== undefined;
    if (isRowRejection(written)) {
      await this.returnUnits(request, counter, written.status === "already_claimed" ? "keep_buyer" : "remove_buyer");
      // The hash knew of fewer units than the buyer has; a second try must not take any off the counter.
      if (written.status === "limit_reached") await this.refreshBuyer(request, counter);
      return written;
    }
    if (written?.order_id === undefined) {
      // The row has fewer units than the counter said: somebody sells past the counter.
      await this.returnUnits(request, counter, "remove_buyer");
      return { status: "sold_out" };
    }
    trace.committedNs = nowNs();
    await this.bestEffort(trace.opId, counter.removeEntry(trace.opId));
    return { status: "sold", orderId: written.order_id };
  }

  private async release(request: GiveBackRequest, removeEntries: () => Promise<void>) {
    try {
      return await giveBackRelative(this.parts.store, request, this.id);
    } catch (error) {
      // Where the outcome is not known the orders may have ended: only `reconcile` may say what becomes of the units.
      if (!isLockError(error) || error.isDefinite) await removeEntries();
      throw error;
    }
  }

  private async removeEntries(counter: RedisCounter, entries: readonly Take[]): Promise<void> {
    for (const { opId } of entries) await this.bestEffort(opId, counter.removeEntry(opId));
  }

  private async refreshBuyer({ target, buyerId, trace }: StockRequest, counter: RedisCounter): Promise<void> {
    const work = this.parts.queries.bought(target, buyerId).then((bought) => counter.storeBuyers([bought]));
    await this.bestEffort(trace.opId, work);
  }

  private async insert(request: StockRequest, counter: RedisCounter): Promise<StockRow | undefined | RowRejection> {
    const { store } = this.parts;
    const values = [request.target.id, ...store.orderValues(request, this.id)];
    try {
      return await store.run(request, { name: "takeGuarded", values, strategyId: this.id });
    } catch (error) {
      const refusal = rowRejectionOf(error);
      if (refusal) return refusal;
      request.trace.writeAccepted = false;
      // Where the outcome is not known the order may be there: only `reconcile` may say what becomes of the units.
      if (!isLockError(error) || error.isDefinite) await this.returnUnits(request, counter, "remove_buyer");
      throw error;
    }
  }

  private returnUnits(
    request: StockRequest,
    counter: RedisCounter,
    buyer: "remove_buyer" | "keep_buyer",
  ): Promise<void> {
    const { buyerId, quantity, trace } = request;
    return this.bestEffort(trace.opId, counter.giveBack({ opId: trace.opId, buyerId, quantity }, buyer));
  }

  /** The buyer's answer does not hang on the journal: an entry that cannot be settled now is settled by `reconcile`. */
  private async bestEffort(opId: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.hasWarned = false;
    } catch (error) {
      if (!this.hasWarned) {
        log().warn({ strategy: this.id, opId, reason: (error as Error).message }, "an entry stays in the journal");
      }
      this.hasWarned = true;
    }
  }

  private counter(target: StockTarget): RedisCounter {
    return new RedisCounter(this.parts.redis, target, this.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parts.taker[Symbol.asyncDispose]();
  }
}
