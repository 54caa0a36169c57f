import type { HistoryOpLine } from "../../types";
import { EventQueue, type Mutable, OrderBook, type Sale, SeededRandom } from "./sale";

export interface CounterSaleOptions {
  readonly seed: number;
  readonly buyers: number;
  readonly initial: number;
  /** The probability that a purchase fails: its answer is lost, or its unit is given back. */
  readonly failureRate: number;
  readonly recordsValues: boolean;
  readonly maxQuantity: number;
  /** Upper bound of every random delay: a small bound puts many events at the same time. */
  readonly maxDelay: number;
}

type Op = Mutable<HistoryOpLine>;

/** Simulates a sale from a counter with an atomic conditional decrement, so the history is linearizable. */
export function simulateCounterSale(options: CounterSaleOptions): Sale {
  const random = new SeededRandom(options.seed);
  const events = new EventQueue();
  const book = new OrderBook();
  const counter = { left: options.initial };
  const ops: Op[] = [];
  const buy = (op: Op, happensAt: number) => {
    ops.push(op);
    const givenBackAt = random.chance(options.failureRate / 2) ? happensAt + random.between(0, options.maxDelay) : null;
    events.add({ at: happensAt, rank: random.next() }, () =>
      decrement(op, { options, counter, book, isGivenBack: givenBackAt !== null }),
    );
    if (givenBackAt === null) return;
    events.add({ at: givenBackAt, rank: 1 + random.next() }, () => {
      if (op.outcome === "error") counter.left += op.quantity;
    });
  };
  for (let index = 0; index < options.buyers; index += 1) {
    const invokedAt = random.between(0, options.maxDelay);
    const happensAt = invokedAt + random.between(0, options.maxDelay);
    const answerIsLost = random.chance(options.failureRate / 2);
    // Without an answer the request times out, before or after the decrement.
    const answeredAt = answerIsLost
      ? random.between(invokedAt, happensAt + 5)
      : happensAt + random.between(0, options.maxDelay);
    const op = newOp(index, { random, options, invokedAt, answeredAt });
    if (answerIsLost) op.outcome = "unknown";
    if (answerIsLost && random.chance(0.5)) ops.push(op);
    else buy(op, happensAt);
  }
  events.run();
  const { initial } = options;
  const run = { type: "run", runId: "simulated", strategy: "redis-decrement", resource: "product:1", initial } as const;
  return {
    run: { ...run, limitPerBuyer: null, hosts: 1 },
    ops,
    end: { type: "end", final: counter.left, orders: book.orders, dropped: 0 },
  };
}

interface OpInputs {
  readonly random: SeededRandom;
  readonly options: CounterSaleOptions;
  readonly invokedAt: number;
  readonly answeredAt: number;
}

function newOp(index: number, { random, options, invokedAt, answeredAt }: OpInputs): Op {
  return {
    type: "op",
    opId: `op-${index + 1}`,
    node: `node-${(index % 3) + 1}`,
    host: "host-1",
    buyerId: `buyer-${index + 1}`,
    quantity: random.between(1, options.maxQuantity),
    invokedNs: String(invokedAt),
    writeNs: String(invokedAt),
    answeredNs: String(answeredAt),
    outcome: "contended",
  };
}

interface DecrementInputs {
  readonly options: CounterSaleOptions;
  readonly counter: { left: number };
  readonly book: OrderBook;
  readonly isGivenBack: boolean;
}

function decrement(op: Op, { options, counter, book, isGivenBack }: DecrementInputs): void {
  const isLost = op.outcome === "unknown";
  if (counter.left < op.quantity) {
    if (isLost) return;
    op.outcome = "sold_out";
    op.writeAccepted = false;
    return;
  }
  const readValue = counter.left;
  counter.left -= op.quantity;
  if (isLost) return void book.insert(op);
  if (isGivenBack) {
    op.outcome = "error";
    return;
  }
  op.outcome = "sold";
  op.orderId = book.insert(op);
  op.writeAccepted = true;
  op.committedNs = op.answeredNs as string;
  if (options.recordsValues) Object.assign(op, { readNs: op.invokedNs, readValue, writtenValue: counter.left });
}
