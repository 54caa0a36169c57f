import { isLockError } from "../locks/errors";
import type { MemcachedCommands } from "../locks/memcached/memcached-port";
import type { RunnerDependencies } from "../locks/runner-context";
import type { StrategyTraits } from "../locks/types";
import { elapsedMs, nowNs } from "../services/monotonic";
import { BuyerMutex } from "./buyer-mutex";
import type { CounterQueries } from "./counter-queries";
import { giveBackRelative } from "./give-back";
import { JournalWriter } from "./journal-writer";
import { type CounterReading, MemcachedCounter } from "./memcached-counter";
import { missingRowError } from "./missing-row";
import { SETTLED_BY_MS, unitsOf } from "./reconcile";
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
import { clearWriteResult, recordLostWrite } from "./write-record";

export const memcachedCasTraits: StrategyTraits = {
  id: "memcached-cas",
  family: "memcached",
  kind: "atomic",
  mechanism: "Counts the stock in Memcached: gets, then cas, with a retry after a random delay; then writes the order.",
  remark: "stock in a cache",
  needs: ["memcached"],
  waiting: "retry",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "blocks" },
};

/** Longer than any run. Every sale renews it. */
const RUN_EXPIRY_SECONDS = 900;
/** Short, so that a counter created outside runs follows sales from the row by other strategies. */
const SHOP_EXPIRY_SECONDS = 30;

/** The parts from which the strategy is created. */
export interface MemcachedCasParts {
  readonly store: StockStore;
  readonly queries: CounterQueries;
  readonly client: MemcachedCommands;
  readonly dependencies: RunnerDependencies;
}

/**
 * Stock in Memcached, taken by compare-and-set with bounded retries and random delays. The order and the row's stock follow in one
 * guarded statement of PostgreSQL.
 *
 * - Guarantees: no unit is taken off the counter twice, and the guarded statement sells no unit that the row does not have.
 *   If a buyer's units are limited, the purchases of that buyer run one at a time (buyer-mutex.ts) and first read the buyer's
 *   units from PostgreSQL, so that duplicate clicks do not change the counter. A rejected order gives its units back.
 * - Breaks under: a crash between counter and order, or a lost reply to a change of the counter, leaves a unit off the
 *   counter, undersold until `reconcile` finds that its journal entry is old. Memcached is a cache: if it is flushed, restarted or evicts the key, the counter is lost. A run
 *   then fails with `backend_unavailable` and does not recreate the counter; outside runs, `add` recreates it from the row.
 * - Fencing token: the version that cas compares serves as one. Clock: Memcached's, for the expiry of an unused counter.
 * - Units: integer stock units; `holdMs` passes between read and write of every attempt.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`; `outcome_unknown` when the reply to the order is lost
 * @see https://github.com/memcached/memcached/blob/master/doc/protocol.txt
 */
export class MemcachedCas implements StockStrategy {
  readonly id = memcachedCasTraits.id;
  readonly traits = memcachedCasTraits;

  private readonly journalWriter: JournalWriter;
  private readonly buyerMutex: BuyerMutex;

  constructor(private readonly parts: MemcachedCasParts) {
    const { client, store, dependencies } = parts;
    this.journalWriter = new JournalWriter({ client, strategyId: this.id, node: store.node });
    this.buyerMutex = new BuyerMutex(client, dependencies);
  }

  async prepare(target: StockTarget, stock: number): Promise<void> {
    await this.counterOf(target).reset(stock, RUN_EXPIRY_SECONDS);
  }

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    const limit = limitPerBuyerOf(request);
    if (limit === 0) return this.takeAndWrite(request);
    const { target, buyerId, quantity } = request;
    return this.buyerMutex.run(request, async () => {
      const { units } = await this.parts.queries.bought(target, buyerId);
      if (units + quantity <= limit) return this.takeAndWrite(request);
      return { status: target.kind === "coupon" ? "already_claimed" : "limit_reached" };
    });
  }

  /** Returns units in PostgreSQL first, where each unit comes back once, then in the counter if it exists. */
  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    const { target, trace, orders } = request;
    const quantity = orders.reduce((sum, order) => sum + order.quantity, 0);
    const counter = this.counterOf(target);
    const { opId } = trace;
    await this.journalWriter.add(counter, { opId, quantity, buyerId: "" });
    const outcome = await this.journalWriter.removingOnDefiniteFailure(target, opId, () =>
      giveBackRelative(this.parts.store, request, this.id),
    );
    const back = outcome.orders.reduce((sum, order) => sum + order.quantity, 0);
    if (back > 0) await this.journalWriter.bestEffort(counter.giveBack(back));
    await this.journalWriter.remove(target, opId);
    return outcome;
  }

  private async takeAndWrite(request: StockRequest): Promise<StockOutcome> {
    const { target, trace } = request;
    const outcome = await this.journalWriter.removingOnDefiniteFailure(target, trace.opId, () =>
      this.takeThenWrite(request),
    );
    await this.journalWriter.remove(target, trace.opId);
    return outcome;
  }

  private async takeThenWrite(request: StockRequest): Promise<StockOutcome> {
    const { trace } = request;
    const counter = this.counterOf(request.target);
    const startedNs = nowNs();
    trace.waitNs = startedNs;
    // One entry per purchase, by the first attempt that finds units.
    let isJournaled = false;
    const enterJournal = async () => {
      if (!isJournaled) await this.journalWriter.add(counter, { ...request, opId: trace.opId });
      isJournaled = true;
    };
    for (let attempt = 1; ; attempt += 1) {
      trace.attempts = attempt;
      const taken = await this.takeOnce(request, counter, enterJournal);
      if (taken === "sold_out") return { status: "sold_out" };
      if (taken === "taken") return this.writeOrder(request, counter);
      const waitedMs = elapsedMs(startedNs);
      const delayMs = retryDelayMs(attempt, () => this.parts.dependencies.random.fraction());
      if (waitedMs + delayMs >= request.waitTimeoutMs || request.signal?.aborted) {
        return { status: "contended", waitedMs, attempts: attempt };
      }
      await sleepMs(delayMs);
    }
  }

  /** Sets the counter to the row's stock if no order can still follow. Then lets it expire like a counter of the shop. */
  async handBack(target: StockTarget): Promise<void> {
    const counter = this.counterOf(target);
    const reading = await counter.read();
    if (reading === null) return;
    const journal = this.journalWriter.journalOf(target).read();
    const isSettled = (await counter.withTypedErrors(journal, "its journal could not be read")).length === 0;
    const stock = isSettled ? await this.parts.queries.stock(target) : reading.stock;
    await counter.replace(reading, { stock, expirySeconds: SHOP_EXPIRY_SECONDS });
  }

  /**
   * Exact only while no purchase is running. Reads the counter before the journal, so that a purchase that starts in between is
   * pending. In the other order its unit would be missing from the counter without a reason.
   */
  async drift(target: StockTarget): Promise<StockDrift> {
    const counted = this.counterOf(target);
    const reading = await counted.read();
    const entries = await counted.withTypedErrors(
      this.journalWriter.journalOf(target).read(),
      "its journal could not be read",
    );
    const stock = await this.parts.queries.stock(target);
    const pending = unitsOf(entries);
    const counter = reading?.stock ?? null;
    return { counter, stock, pending, drift: counter === null ? 0 : counter - stock };
  }

  /**
   * Sets the counter to the row's stock if no journal entry can still lead to an order and the counter has not changed since it
   * was read, which is before the journal. Removes only entries that this node wrote.
   */
  async reconcile(target: StockTarget, options: ReconcileOptions = {}): Promise<Reconciliation> {
    const { olderThanMs = SETTLED_BY_MS, isDead = () => false, journalOnly = false } = options;
    const nothing = { kept: 0, givenBack: 0, pending: 0, corrected: 0 };
    const counter = this.counterOf(target);
    const journal = this.journalWriter.journalOf(target);
    const reading = await counter.read();
    const entries = await counter.withTypedErrors(journal.read(), "its journal could not be read");
    const nowEpochMs = Date.now();
    const isOld = ({ opId, takenAtEpochMs }: (typeof entries)[number]) =>
      nowEpochMs - takenAtEpochMs >= olderThanMs || isDead(opId);
    const open = entries.filter((entry) => !isOld(entry));
    if (open.length > 0) return { ...nothing, pending: unitsOf(open) };
    const mayBeMissing = journalOnly ? unitsOf(entries) : Number.POSITIVE_INFINITY;
    const corrected = reading === null ? 0 : await this.correct(counter, reading, mayBeMissing);
    const settled = entries.map(({ opId }) => opId);
    if (settled.length > 0) await counter.withTypedErrors(journal.remove(settled), "its journal could not be written");
    return { ...nothing, corrected };
  }

  /**
   * With a limit, the counter may lack up to that many units: those of entries that took them and have no order.
   * @returns the change of the counter
   */
  private async correct(counter: MemcachedCounter, reading: CounterReading, limit: number): Promise<number> {
    const stock = await this.parts.queries.stock(counter.target);
    const missing = stock - reading.stock;
    const isExplained = limit === Number.POSITIVE_INFINITY || (missing >= 0 && missing <= limit);
    if (missing === 0 || !isExplained) return 0;
    const outcome = await counter.replace(reading, { stock, expirySeconds: RUN_EXPIRY_SECONDS });
    return outcome === "replaced" ? missing : 0;
  }

  private async takeOnce(
    request: StockRequest,
    counter: MemcachedCounter,
    enterJournal: () => Promise<void>,
  ): Promise<"taken" | "sold_out" | "changed"> {
    const { trace, quantity, runId } = request;
    const reading = (await counter.read()) ?? (await this.seed(request, counter));
    if (reading === null) return "changed";
    trace.readNs = nowNs();
    trace.readValue = reading.stock;
    if (reading.stock < quantity) return "sold_out";
    // The entry is written during the business logic, before the counter changes.
    await Promise.all([enterJournal(), sleepMs(request.holdMs)]);

    trace.writeNs = nowNs();
    trace.writtenValue = reading.stock - quantity;
    clearWriteResult(trace);
    const expirySeconds = runId === null ? SHOP_EXPIRY_SECONDS : RUN_EXPIRY_SECONDS;
    const outcome = await counter.replace(reading, { stock: trace.writtenValue, expirySeconds });
    if (outcome === "replaced") {
      trace.writeAccepted = true;
      return "taken";
    }
    // If the counter is gone, the next attempt creates it or fails.
    recordLostWrite(trace);
    return "changed";
  }

  /** Fails inside a run: a counter recreated from the row would sell units again whose orders are not written yet. */
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
      const rejection = rowRejectionOf(error);
      if (rejection) return rejection;
      // If the order may exist, its units must not go back to the counter.
      if (isLockError(error) && error.isDefinite) await counter.giveBack(request.quantity);
      throw error;
    }
  }

  private counterOf(target: StockTarget): MemcachedCounter {
    return new MemcachedCounter(this.parts.client, this.id, target);
  }

  /** Pool and client belong to the process, not to the strategy. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.buyerMutex[Symbol.asyncDispose]();
  }
}
