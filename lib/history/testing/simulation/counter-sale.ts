import type { HistoryOpLine } from "../../types";
import { EventQueue, type Mutable, OrderBook, type Sale, SeededRandom } from "./sale";

export interface CounterSaleOptions {
  readonly seed: number;
  readonly buyers: number;
  readonly initial: number;
  /** How often a purchase meets with trouble: an answer that never came, a unit taken and put back. */
  readonly trouble: number;
  /** Whether values are recorded. */
  readonly valued: boolean;
  readonly maxQuantity: number;
  /** The moments there are: few make many events fall on one instant. */
  readonly moments: number;
}

type Op = Mutable<HistoryOpLine>;

/** A sale from a counter that one conditional operation takes from: linearizable by making. */
export function simulateCounterSale(options: CounterSaleOptions): Sale {
  const dice = new SeededRandom(options.seed);
  const events = new EventQueue();
  const book = new OrderBook();
  const counter = { left: options.initial };
  const ops: Op[] = [];
  const buy = (op: Op, happensAt: number) => {
    ops.push(op);
    const backAt = dice.chance(options.trouble / 2) ? happensAt + dice.between(0, options.moments) : null;
    events.add({ at: happensAt, rank: dice.next() }, () =>
      take(op, { options, counter, book, isPutBack: backAt !== null }),
    );
    if (backAt === null) return;
    events.add({ at: backAt, rank: 1 + dice.next() }, () => {
      if (op.outcome === "error") counter.left += op.quantity;
    });
  };
  for (let index = 0; index < options.buyers; index += 1) {
    const invokedAt = dice.between(0, options.moments);
    const happensAt = invokedAt + dice.between(0, options.moments);
    const answerIsLost = dice.chance(options.trouble / 2);
    // Without an answer the buyer gives up at some moment, before or after it happens, if it does.
    const answeredAt = answerIsLost
      ? dice.between(invokedAt, happensAt + 5)
      : happensAt + dice.between(0, options.moments);
    const op = newOp(index, { dice, options, invokedAt, answeredAt });
    if (answerIsLost) op.outcome = "unknown";
    if (answerIsLost && dice.chance(0.5)) ops.push(op);
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

interface Making {
  readonly dice: SeededRandom;
  readonly options: CounterSaleOptions;
  readonly invokedAt: number;
  readonly answeredAt: number;
}

function newOp(index: number, { dice, options, invokedAt, answeredAt }: Making): Op {
  return {
    type: "op",
    opId: `op-${index + 1}`,
    node: `node-${(index % 3) + 1}`,
    host: "host-1",
    buyerId: `buyer-${index + 1}`,
    quantity: dice.between(1, options.maxQuantity),
    invokedNs: String(invokedAt),
    writeNs: String(invokedAt),
    answeredNs: String(answeredAt),
    outcome: "contended",
  };
}

interface Taking {
  readonly options: CounterSaleOptions;
  readonly counter: { left: number };
  readonly book: OrderBook;
  readonly isPutBack: boolean;
}

function take(op: Op, { options, counter, book, isPutBack }: Taking): void {
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
  if (isPutBack) {
    op.outcome = "error";
    return;
  }
  op.outcome = "sold";
  op.orderId = book.insert(op);
  op.writeAccepted = true;
  op.committedNs = op.answeredNs as string;
  if (options.valued) Object.assign(op, { readNs: op.invokedNs, readValue, writtenValue: counter.left });
}
