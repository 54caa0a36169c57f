import { isLockError } from "../locks/errors";
import type { MemcachedCommands } from "../locks/memcached/memcached-port";
import type { StrategyTraits } from "../locks/types";
import { elapsedMs, nowNs } from "../services/monotonic";
import { BuyerMutex } from "./buyer-mutex";
import type { CounterQueries } from "./counter-queries";
import { giveBackRelative } from "./give-back";
import { JournalWriter } from "./journal-writer";
import { type CounterReading, MemcachedCounter } from "./memcached-counter";
import { missingRowError } from "./missing-row";
import { SETTLED_BY_MS } from "./reconcile";
import { limitPerBuyerOf } from "./redis-counter";
import { retryDelayMs } from "./retry-delay";
import { isRowRejection, rowRejectionOf } from "./row-rejection";
import { sleepMs } from "./sleep";
import type { StockRow, StockStore } from "./stock-store";
import type {
  GiveBackOutcome,
  GiveBackRequest,
  ReconcileOptions,
  Reconciliation,
  RowRejection,
  StockDrift,
  StockOutcome,
  StockRequest,
  StockStrategy,
  StockTarget,
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

/** Longer than any run; every sale starts it anew. */
const RUN_EXPIRY_SECONDS = 900;
/** Short, so that a counter the shop made follows what others sell from the row. */
const SHOP_EXPIRY_SECONDS = 30;

/** What a strategy that keeps its stock elsewhere is made of. */
export interface MemcachedCasParts {
  readonly store: StockStore;
  readonly queries: CounterQueries;
  readonly client: MemcachedCommands;
  /** Uniform in [0, 1): backoff jitter. */
  readonly random: () => number;
}

/**
 * Stock in Memcached, taken by compare-and-set with bounded, jittered retry; the order and the row's stock follow in one
 * guarded statement of PostgreSQL.
 *
 * - Guarantees: no unit is taken off the counter twice, and the guarded statement sells none that the row has not.
 *   Where a buyer may have so many only, his purchases take turns (buyer-claims.ts) and each first asks PostgreSQL what
 *   he has, so that duplicate clicks do not touch the counter. An order that is refused all the same gives its unit back.
 * - Breaks under: a crash between the counter and the order leaves a unit off the counter (undersold until
 *   `reconcile` finds by the journal that nobody is in between any more). Memcached is a cache: flushed, restarted or evicting, it forgets the stock itself. A run then stops with
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

  private readonly entries: JournalWriter;
  private readonly claims: BuyerMutex;

  constructor(private readonly parts: MemcachedCasParts) {
    const { client, store, random } = parts;
    this.entries = new JournalWriter({ client, strategyId: this.id, node: store.node });
    this.claims = new BuyerMutex(client, (attempt) => retryDelayMs(attempt, random));
  }

  async prepare(target: StockTarget, stock: number): Promise<void> {
    await this.counterOf(target).reset(stock, RUN_EXPIRY_SECONDS);
  }

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const limit = limitPerBuyerOf(request);
    if (limit === 0) return this.takeAndWrite(request);
    const { target, buyerId, quantity } = request;
    const done = this.counterOf(target).withTypedErrors(
      this.claims.inTurn(request, async (): Promise<StockOutcome> => {
        const { units } = await this.parts.queries.bought(target, buyerId);
        if (units + quantity <= limit) return this.takeAndWrite(request);
        return { status: target.kind === "coupon" ? "already_claimed" : "limit_reached" };
      }),
      "the buyer could not be given his turn",
    );
    return done;
  }

  /** PostgreSQL first, where each unit comes back once; then the counter, if there is one. */
  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    const { target, trace, orders } = request;
    const quantity = orders.reduce((sum, order) => sum + order.quantity, 0);
    const counter = this.counterOf(target);
    const { opId } = trace;
    await this.entries.add(counter, { opId, quantity, buyerId: "" });
    const outcome = await this.entries.removingOnDefiniteFailure(target, opId, () =>
      giveBackRelative(this.parts.store, request, this.id),
    );
    const back = outcome.orders.reduce((sum, order) => sum + order.quantity, 0);
    if (back > 0) await this.entries.bestEffort(counter.giveBack(back));
    await this.entries.remove(target, opId);
    return outcome;
  }

  private async takeAndWrite(request: StockRequest): Promise<StockOutcome> {
    const { target, trace } = request;
    const outcome = await this.entries.removingOnDefiniteFailure(target, trace.opId, () => this.takeThenWrite(request));
    await this.entries.remove(target, trace.opId);
    return outcome;
  }

  private async takeThenWrite(request: StockRequest): Promise<StockOutcome> {
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
      const delayMs = retryDelayMs(attempt, this.parts.random);
      if (waitedMs + delayMs >= request.waitTimeoutMs || request.signal?.aborted) {
        return { status: "contended", waitedMs, attempts: attempt };
      }
      await sleepMs(delayMs);
    }
  }

  /** Exact while nobody buys. */
  async drift(target: StockTarget): Promise<StockDrift> {
    const counted = this.counterOf(target);
    const reading = await counted.read();
    const entries = await counted.withTypedErrors(
      this.entries.journalOf(target).read(),
      "its journal could not be read",
    );
    const stock = await this.parts.queries.stock(target);
    const pending = entries.reduce((sum, { quantity }) => sum + quantity, 0);
    const counter = reading?.stock ?? null;
    return { counter, stock, pending, drift: counter === null ? 0 : counter - stock };
  }

  /**
   * Sets the counter to what the row says, when the journal has nobody between the two who may still write his order, and
   * the counter is still what was read before all that.
   */
  async reconcile(target: StockTarget, options: ReconcileOptions = {}): Promise<Reconciliation> {
    const { olderThanMs = SETTLED_BY_MS, isDead = () => false } = options;
    const nothing = { kept: 0, givenBack: 0, pending: 0, corrected: 0 };
    const counter = this.counterOf(target);
    const journal = this.entries.journalOf(target);
    const reading = await counter.read();
    const entries = await counter.withTypedErrors(journal.read(), "its journal could not be read");
    const nowEpochMs = Date.now();
    const isOver = ({ opId, takenAtEpochMs }: (typeof entries)[number]) =>
      nowEpochMs - takenAtEpochMs >= olderThanMs || isDead(opId);
    const open = entries.filter((entry) => !isOver(entry));
    if (open.length > 0) return { ...nothing, pending: open.reduce((sum, { quantity }) => sum + quantity, 0) };
    const corrected = reading === null ? 0 : await this.correct(counter, reading);
    const settled = entries.map(({ opId }) => opId);
    if (settled.length > 0) await counter.withTypedErrors(journal.remove(settled), "its journal could not be written");
    return { ...nothing, corrected };
  }

  /** @returns by how much the counter was moved */
  private async correct(counter: MemcachedCounter, reading: CounterReading): Promise<number> {
    const stock = await this.parts.queries.stock(counter.target);
    if (stock === reading.stock) return 0;
    const outcome = await counter.replace(reading, { stock, expirySeconds: RUN_EXPIRY_SECONDS });
    return outcome === "replaced" ? stock - reading.stock : 0;
  }

  private async takeOnce(request: StockRequest, counter: MemcachedCounter): Promise<"taken" | "sold_out" | "changed"> {
    const { trace, quantity, runId } = request;
    const reading = (await counter.read()) ?? (await this.seed(request, counter));
    if (reading === null) return "changed";
    trace.readNs = nowNs();
    trace.readValue = reading.stock;
    if (reading.stock < quantity) return "sold_out";
    // Written down while the business logic works, and only once: the counter is not touched before.
    const journaled = (trace.attempts ?? 1) > 1 || this.entries.add(counter, { ...request, opId: trace.opId });
    await Promise.all([journaled, sleepMs(request.holdMs)]);

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
    if (request.runId !== null) throw counter.lostError();
    const read = { name: "read", values: [request.target.id], strategyId: this.id } as const;
    const row = await this.parts.store.run(request, read);
    if (row?.stock === undefined) throw missingRowError(this.id, request.target);
    await counter.seed(Math.max(0, row.stock), SHOP_EXPIRY_SECONDS);
    return counter.read();
  }

  private async writeOrder(request: StockRequest, counter: MemcachedCounter): Promise<StockOutcome> {
    const row = await this.insertOrder(request, counter);
    if (!isRowRejection(row) && row?.order_id !== undefined) {
      request.trace.committedNs = nowNs();
      return { status: "sold", orderId: row.order_id };
    }
    await counter.giveBack(request.quantity);
    return isRowRejection(row) ? row : { status: "sold_out" };
  }

  private async insertOrder(
    request: StockRequest,
    counter: MemcachedCounter,
  ): Promise<StockRow | undefined | RowRejection> {
    const { store } = this.parts;
    const values = [request.target.id, ...store.orderValues(request, this.id)];
    try {
      return await store.run(request, { name: "takeGuarded", values, strategyId: this.id });
    } catch (error) {
      const refusal = rowRejectionOf(error);
      if (refusal) return refusal;
      // Where the order may have been written all the same, its unit is not there to be given back.
      if (isLockError(error) && error.isDefinite) await counter.giveBack(request.quantity);
      throw error;
    }
  }

  private counterOf(target: StockTarget): MemcachedCounter {
    return new MemcachedCounter(this.parts.client, this.id, target);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Pool and client belong to the process, not to the strategy.
  }
}
