import { isLockError, LockError } from "../locks/errors";
import type { MemcachedCommands } from "../locks/memcached/memcached-port";
import type { StrategyTraits } from "../locks/types";
import { elapsedMs, nowNs } from "../services/monotonic";
import type { CountedRows } from "./counted-rows";
import { type CounterReading, MemcachedCounter } from "./memcached-counter";
import { sleepMs } from "./sleep";
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

export const memcachedCasTraits: StrategyTraits = {
  id: "memcached-cas",
  family: "memcached",
  kind: "atomic",
  mechanism:
    "Stock in Memcached: gets, then cas if nobody wrote meanwhile, else a short wait and again; the order follows.",
  remark: "stock in a cache",
  needs: ["memcached"],
  waiting: "retry",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "blocks" },
};

/** First and longest pause between two tries; the pause is drawn at random between nothing and its bound (full jitter). */
const FIRST_BACKOFF_MS = 4;
const MAX_BACKOFF_MS = 64;

/** Longer than any run; every sale starts it anew. */
const RUN_EXPIRY_SECONDS = 900;
/** Short, so that a counter the shop made follows what others sell from the row. */
const SHOP_EXPIRY_SECONDS = 30;

/** What a strategy that keeps its stock elsewhere is made of. */
export interface MemcachedCasParts {
  readonly store: StockStore;
  readonly rows: CountedRows;
  readonly client: MemcachedCommands;
  /** Uniform in [0, 1): backoff jitter. */
  readonly random: () => number;
}

/**
 * Stock in Memcached, taken by compare-and-set with bounded, jittered retry; the order and the row's stock follow in one
 * guarded statement of PostgreSQL.
 *
 * - Guarantees: no unit is taken off the counter twice, and the guarded statement sells none that the row has not.
 *   An order that PostgreSQL refuses gives its unit back, so a duplicate click never keeps two; while it is on its way
 *   back, another buyer may be told `sold_out` too early.
 * - Breaks under: a crash between the counter and the order leaves a unit off the counter (undersold until
 *   `reconcile` finds nobody buying). Memcached is a cache: flushed, restarted or evicting, it forgets the stock itself. A run then stops with
 *   `backend_unavailable` and never makes a new counter; outside of runs the counter is made from the row by `add`.
 * - Fencing token: the version that cas compares plays its part. Clock: Memcached's, for the life of an unused counter.
 * - Units: integer stock units; `holdMs` passes between the read and the write of every try.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, or `outcome_unknown` when the reply to the order was lost
 * @see https://github.com/memcached/memcached/blob/master/doc/protocol.txt
 */
export class MemcachedCas implements StockStrategy {
  readonly id = memcachedCasTraits.id;
  readonly traits = memcachedCasTraits;

  constructor(private readonly parts: MemcachedCasParts) {}

  async prepare(target: StockTarget, stock: number): Promise<void> {
    await this.counterOf(target).reset(stock, RUN_EXPIRY_SECONDS);
  }

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const { trace } = request;
    const counter = this.counterOf(request.target);
    const startedNs = nowNs();
    trace.waitNs = startedNs;
    for (let attempt = 1; ; attempt += 1) {
      trace.attempts = attempt;
      const taken = await this.takeOnce(request, counter);
      if (taken === "sold_out") return { status: "sold_out" };
      if (taken === "taken") return this.writeOrder(request, counter);
      const waitedMs = elapsedMs(startedNs);
      const pauseMs = this.pauseMs(attempt);
      if (waitedMs + pauseMs >= request.waitTimeoutMs || request.signal?.aborted) {
        return { status: "contended", waitedMs, attempts: attempt };
      }
      await sleepMs(pauseMs);
    }
  }

  /** Exact while nobody buys. */
  async drift(target: StockTarget): Promise<StockDrift> {
    const reading = await this.counterOf(target).read();
    const stock = await this.parts.rows.stock(target);
    const counter = reading?.stock ?? null;
    const drift = counter === null ? 0 : counter - stock;
    return { counter, stock, pending: Math.max(0, -drift), drift };
  }

  /**
   * Sets the counter to what the row says. No journal tells how old a missing unit is: it is put back only where
   * `olderThanMs: 0` says that nobody is buying, and left as pending elsewhere.
   */
  async reconcile(target: StockTarget, { olderThanMs }: ReconcileOptions = {}): Promise<Reconciliation> {
    const nothing = { kept: 0, givenBack: 0, pending: 0, corrected: 0 };
    const counter = this.counterOf(target);
    const reading = await counter.read();
    if (reading === null) return nothing;
    const stock = await this.parts.rows.stock(target);
    const missing = stock - reading.stock;
    if (missing === 0) return nothing;
    if (missing > 0 && olderThanMs !== 0) return { ...nothing, pending: missing };
    const outcome = await counter.replace(reading, { stock, expirySeconds: RUN_EXPIRY_SECONDS });
    return outcome === "replaced" ? { ...nothing, corrected: missing } : nothing;
  }

  private async takeOnce(request: StockRequest, counter: MemcachedCounter): Promise<"taken" | "sold_out" | "changed"> {
    const { trace, quantity, runId } = request;
    const reading = (await counter.read()) ?? (await this.seed(request, counter));
    if (reading === null) return "changed";
    trace.readNs = nowNs();
    trace.readValue = reading.stock;
    if (reading.stock < quantity) return "sold_out";
    await sleepMs(request.holdMs);

    trace.writeNs = nowNs();
    trace.writtenValue = reading.stock - quantity;
    // Stays open when the reply is lost.
    delete trace.writeAccepted;
    const expirySeconds = runId === null ? SHOP_EXPIRY_SECONDS : RUN_EXPIRY_SECONDS;
    const outcome = await counter.replace(reading, { stock: trace.writtenValue, expirySeconds });
    trace.writeAccepted = outcome === "replaced";
    // Gone: the next try finds out what to do about it.
    return outcome === "replaced" ? "taken" : "changed";
  }

  /** A counter made from the row in mid-run would sell again what is sold but not yet written: a run stops instead. */
  private async seed(request: StockRequest, counter: MemcachedCounter): Promise<CounterReading | null> {
    if (request.runId !== null) throw counter.gone();
    const read = { name: "read", values: [request.target.id], strategyId: this.id } as const;
    const row = await this.parts.store.run(request, read);
    if (row?.stock === undefined) throw this.rowGone(request);
    await counter.seed(Math.max(0, row.stock), SHOP_EXPIRY_SECONDS);
    return counter.read();
  }

  private async writeOrder(request: StockRequest, counter: MemcachedCounter): Promise<StockOutcome> {
    const row = await this.insertOrder(request, counter);
    if (row !== "duplicate" && row?.order_id !== undefined) {
      request.trace.committedNs = nowNs();
      return { status: "sold", orderId: row.order_id };
    }
    await counter.giveBack(request.quantity);
    return { status: row === "duplicate" ? "already_claimed" : "sold_out" };
  }

  private async insertOrder(
    request: StockRequest,
    counter: MemcachedCounter,
  ): Promise<StockRow | undefined | "duplicate"> {
    const { store } = this.parts;
    const values = [request.target.id, ...store.orderValues(request, this.id)];
    try {
      return await store.run(request, { name: "takeGuarded", values, strategyId: this.id });
    } catch (error) {
      if (isUniqueViolation(error)) return "duplicate";
      // Where the order may have been written all the same, its unit is not there to be given back.
      if (isLockError(error) && error.isDefinite) await counter.giveBack(request.quantity);
      throw error;
    }
  }

  private counterOf(target: StockTarget): MemcachedCounter {
    return new MemcachedCounter(this.parts.client, this.id, target);
  }

  private pauseMs(attempt: number): number {
    const boundMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(attempt, 10));
    return Math.round(this.parts.random() * boundMs);
  }

  private rowGone(request: StockRequest): LockError {
    return new LockError({
      code: "config_invalid",
      strategyId: this.id,
      resource: resourceOf(request.target),
      message: "the row to sell from does not exist",
      isDefinite: true,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Pool and client belong to the process, not to the strategy.
  }
}
