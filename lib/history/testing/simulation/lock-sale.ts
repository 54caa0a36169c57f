import type { HistoryOpLine } from "../../types";
import { clocks, EventQueue, type Mutable, OrderBook, type Sale, SeededRandom } from "./sale";

export interface LockSaleOptions {
  readonly seed: number;
  readonly buyers: number;
  readonly initial: number;
  readonly hosts: number;
  /**
   * The row checks fencing tokens, so the simulation may pause a holder beyond its lease and let the next one acquire.
   */
  readonly fenced: boolean;
  /** The probability that a purchase fails: contended, an error, or a lost answer. */
  readonly failureRate: number;
  readonly maxQuantity: number;
  /** Multiplies every duration: a small scale puts many events at the same time. */
  readonly scale: number;
}

type Op = Mutable<HistoryOpLine>;

/** The stock row: an unguarded read-modify-write, plus a fence that rejects older tokens if the lock has tokens. */
interface Row {
  stock: number;
  fence: number;
}

/** Simulates a sale under a correct lock: its history has no violation. */
export function simulateLockSale(options: LockSaleOptions): Sale {
  const random = new SeededRandom(options.seed);
  const events = new EventQueue();
  const book = new OrderBook();
  const row: Row = { stock: options.initial, fence: 0 };
  const hosts = clocks(random, options.hosts);
  const ops: Op[] = [];
  let freeAt = 0;
  for (let index = 0; index < options.buyers; index += 1) {
    const host = hosts[index % hosts.length] ?? { host: "host-1", offset: 0n };
    const purchase = new Purchase({ options, random, events, book, row }, { index, ...host });
    freeAt = purchase.schedule(freeAt);
    ops.push(purchase.op);
  }
  events.run();
  const { initial } = options;
  const strategy = options.fenced ? "redis-fenced" : "redis-lock";
  return {
    run: {
      type: "run",
      runId: "simulated",
      strategy,
      resource: "product:1",
      initial,
      limitPerBuyer: null,
      hosts: options.hosts,
    },
    ops,
    end: { type: "end", final: row.stock, orders: book.orders, dropped: 0 },
  };
}

interface World {
  readonly options: LockSaleOptions;
  readonly random: SeededRandom;
  readonly events: EventQueue;
  readonly book: OrderBook;
  readonly row: Row;
}

interface Position {
  readonly index: number;
  readonly host: string;
  readonly offset: bigint;
}

/** One purchase. Purchases are created in grant order; the start of each wait is random. */
class Purchase {
  readonly op: Op;
  private readonly token: number;

  constructor(
    private readonly world: World,
    private readonly position: Position,
  ) {
    const { random, options } = world;
    this.token = position.index + 1;
    this.op = {
      type: "op",
      opId: `op-${position.index + 1}`,
      node: `node-${(position.index % 3) + 1}`,
      host: position.host,
      buyerId: `buyer-${position.index + 1}`,
      quantity: random.between(1, options.maxQuantity),
      invokedNs: "0",
      outcome: "contended",
    };
  }

  /** @returns the earliest time of the next grant */
  schedule(freeAt: number): number {
    const { random, options } = this.world;
    const grantAt = freeAt + this.randomDelay();
    const invokedAt = Math.max(0, grantAt - random.between(0, 20 * options.scale));
    this.op.invokedNs = this.stamp(invokedAt);
    this.op.waitNs = this.stamp(invokedAt);
    if (random.chance(options.failureRate / 3)) {
      this.op.answeredNs = this.stamp(grantAt);
      return freeAt;
    }
    return this.hold(grantAt);
  }

  private hold(grantAt: number): number {
    const { random, options, events } = this.world;
    const { op } = this;
    const randomPause = () => (options.fenced && random.chance(options.failureRate) ? 30 * options.scale : 0);
    const readAt = grantAt + this.randomDelay() + randomPause();
    const writeAt = readAt + this.randomDelay() + randomPause();
    const endAt = writeAt + this.randomDelay();
    const leaseEndsAt = grantAt + 10 * options.scale;
    op.grantedNs = this.stamp(grantAt);
    op.holderId = `holder-${op.opId}`;
    if (options.fenced) op.fencingToken = String(this.token);
    op.releasedNs = this.stamp(endAt);
    op.answeredNs = this.stamp(endAt + this.randomDelay());
    const fails = random.chance(options.failureRate / 3);
    // Without tokens, holds never overlap, so ranks follow grant order. With tokens, overlapping holders act in random
    // order.
    const rank = options.fenced ? random.next() : this.position.index;
    events.add({ at: random.between(grantAt, readAt), rank }, () => this.read(readAt, fails));
    events.add({ at: random.between(writeAt, endAt), rank: rank + random.next() / 2 + 0.1 }, () =>
      this.write(writeAt, endAt),
    );
    return options.fenced ? Math.min(endAt, leaseEndsAt) : endAt;
  }

  private read(readAt: number, fails: boolean): void {
    const { row, options } = this.world;
    this.op.outcome = "error";
    if (options.fenced && row.fence > this.token) return;
    if (options.fenced) row.fence = this.token;
    this.op.readNs = this.stamp(readAt);
    this.op.readValue = row.stock;
    if (row.stock < this.op.quantity) this.op.outcome = "sold_out";
    else if (!fails) this.op.outcome = "sold";
  }

  private write(writeAt: number, endAt: number): void {
    const { random, row, book, options } = this.world;
    const { op } = this;
    if (op.outcome !== "sold" || op.readValue === undefined) return;
    op.writeNs = this.stamp(writeAt);
    op.writtenValue = op.readValue - op.quantity;
    op.writeAccepted = !options.fenced || row.fence === this.token;
    const replyIsLost = random.chance(options.failureRate / 3);
    if (op.writeAccepted) {
      row.stock = op.writtenValue;
      op.orderId = book.insert(op);
      op.committedNs = this.stamp(endAt);
    } else op.outcome = "error";
    if (replyIsLost) this.loseReply();
  }

  private loseReply(): void {
    this.op.outcome = "unknown";
    for (const field of ["writeAccepted", "committedNs", "orderId"] as const) delete this.op[field];
  }

  private randomDelay(): number {
    return this.world.random.between(0, this.world.options.scale);
  }

  private stamp(at: number): string {
    return (BigInt(at) + this.position.offset).toString();
  }
}
