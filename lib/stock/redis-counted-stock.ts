import { isLockError, LockError } from "../locks/errors";
import type { RedisCommands } from "../locks/redis/redis-port";
import type { StrategyTraits } from "../locks/types";
import { log } from "../services/log";
import { nowNs } from "../services/monotonic";
import type { CounterQueries } from "./counter-queries";
import { giveBackRelative } from "./give-back";
import { readDrift, reconcile } from "./reconcile";
import { listCounted, RedisCounter, type Take, type TakeResult } from "./redis-counter";
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
import { recordLostWrite } from "./write-record";

/** The part that differs between strategies: how to take units off the counter. Fills in the trace. */
export interface CounterTaker extends AsyncDisposable {
  take(request: StockRequest, counter: RedisCounter): Promise<TakeResult | Contended>;
}

export type Contended = Extract<StockOutcome, { readonly status: "contended" }>;

type Counted = Exclude<TakeResult, { readonly status: "no_counter" }> | Contended;

/** If a server loses the counter more often than this during one purchase (eviction, restarts), the purchase fails. */
const MAX_INITIALIZATIONS = 3;

export interface RedisCountedStockParts {
  readonly traits: StrategyTraits;
  readonly taker: CounterTaker;
  readonly store: StockStore;
  readonly queries: CounterQueries;
  readonly redis: RedisCommands;
}

/**
 * Stock that is counted in Redis and sold in PostgreSQL: a purchase takes units off the counter first, then one guarded statement
 * takes them off the row and writes the order.
 *
 * In between, the units are in the journal. If the write fails, the units go back to the counter. If its outcome is unknown or
 * the process dies, they stay in the journal for `reconcile`. The condition of the guarded statement does not depend on the
 * counter, so a wrong counter can undersell but not oversell.
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
    if (taken.status !== "taken" && trace.writeNs !== undefined) recordLostWrite(trace);
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
   * Returns units in PostgreSQL first, where each unit comes back once, then in the counter. In between, the units are in the
   * journal: after a crash they cannot be bought until `reconcile`, but none is sold twice.
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

  handBack(target: StockTarget): Promise<void> {
    return this.counter(target).remove();
  }

  drift(target: StockTarget): Promise<StockDrift> {
    return readDrift(this.counter(target), this.parts.queries);
  }

  countedTargets(): Promise<readonly StockTarget[]> {
    return listCounted(this.parts.redis, this.id);
  }

  reconcile(target: StockTarget, options: ReconcileOptions = {}): Promise<Reconciliation> {
    return reconcile(this.counter(target), this.parts.queries, options);
  }

  /** Initializes the counter if it does not exist: at the first purchase, or after the server lost it. */
  private async take(request: StockRequest, counter: RedisCounter): Promise<Counted> {
    const { taker, queries } = this.parts;
    const { target } = request;
    for (let count = 0; count <= MAX_INITIALIZATIONS; count += 1) {
      const taken = await taker.take(request, counter);
      if (taken.status !== "no_counter") return taken;
      await counter.initialize(await queries.stock(target), await queries.buyers(target));
    }
    throw new LockError({
      code: "backend_unavailable",
      strategyId: this.id,
      resource: resourceOf(target),
      message: `Redis lost the counter ${MAX_INITIALIZATIONS} times during one purchase; check its memory limit and eviction policy`,
      isDefinite: true,
    });
  }

  private async writeOrder(request: StockRequest, counter: RedisCounter): Promise<StockOutcome> {
    const { trace } = request;
    const written = await this.insert(request, counter);
    trace.writeAccepted = !isRowRejection(written) && written?.order_id !== undefined;
    if (isRowRejection(written)) {
      await this.returnUnits(request, counter, written.status === "already_claimed" ? "keep_buyer" : "remove_buyer");
      // The hash had too few units for this buyer. Correct it, so that a retry stops before the counter.
      if (written.status === "limit_reached") await this.refreshBuyer(request, counter);
      return written;
    }
    if (written?.order_id === undefined) {
      // The row has fewer units than the counter, because sales bypass the counter.
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
      // If the outcome is unknown, the orders may have ended. Leave the entries to `reconcile`.
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
      const rejection = rowRejectionOf(error);
      if (rejection) return rejection;
      // If the outcome is unknown, the order may exist. Leave the entry to `reconcile`.
      if (isLockError(error) && !error.isDefinite) throw error;
      request.trace.writeAccepted = false;
      await this.returnUnits(request, counter, "remove_buyer");
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

  /** Updates the journal without failing the purchase: `reconcile` settles an entry that stays. */
  private async bestEffort(opId: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.hasWarned = false;
    } catch (error) {
      if (!this.hasWarned) {
        log().warn(
          { strategy: this.id, opId, reason: (error as Error).message },
          "a journal entry could not be removed; reconcile will settle it",
        );
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
