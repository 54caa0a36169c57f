import type { HistoryOpLine } from "../../types";
import { clocks, EventQueue, type Mutable, OrderBook, type Sale, SeededRandom } from "./sale";

export interface LockSaleOptions {
  readonly seed: number;
  readonly buyers: number;
  readonly initial: number;
  readonly hosts: number;
  /** Tokens checked by the row: holders may then be paused past their lease, and others enter. */
  readonly fenced: boolean;
  /** How often a purchase meets with trouble: contended, an error, an answer that never came. */
  readonly trouble: number;
  readonly maxQuantity: number;
  /** Stretches every duration; small values make many events fall on one instant. */
  readonly scale: number;
}

type Op = Mutable<HistoryOpLine>;

/** The hot row: the naive read-modify-write, with the fence of docs/history-format.md where the lock has tokens. */
interface Row {
  stock: number;
  fence: number;
}

/** A sale under a lock that works: whatever it records, nothing was promised twice. */
export function simulateLockSale(options: LockSaleOptions): Sale {
  const dice = new SeededRandom(options.seed);
  const events = new EventQueue();
  const book = new OrderBook();
  const row: Row = { stock: options.initial, fence: 0 };
  const sites = clocks(dice, options.hosts);
  const ops: Op[] = [];
  let freeAt = 0;
  for (let index = 0; index < options.buyers; index += 1) {
    const site = sites[index % sites.length] ?? { host: "host-1", offset: 0n };
    const visit = new Visit({ options, dice, events, book, row }, { index, ...site });
    freeAt = visit.schedule(freeAt);
    ops.push(visit.op);
  }
  events.run();
  const { initial, hosts } = options;
  const strategy = options.fenced ? "redis-fenced" : "redis-lock";
  return {
    run: { type: "run", runId: "simulated", strategy, resource: "product:1", initial, limitPerBuyer: null, hosts },
    ops,
    end: { type: "end", final: row.stock, orders: book.orders, dropped: 0 },
  };
}

interface World {
  readonly options: LockSaleOptions;
  readonly dice: SeededRandom;
  readonly events: EventQueue;
  readonly book: OrderBook;
  readonly row: Row;
}

interface Place {
  readonly index: number;
  readonly host: string;
  readonly offset: bigint;
}

/** One buyer's visit. Buyers come in the order in which they are granted; when they began to wait is drawn. */
class Visit {
  readonly op: Op;
  private readonly token: number;

  constructor(
    private readonly world: World,
    private readonly place: Place,
  ) {
    const { dice, options } = world;
    this.token = place.index + 1;
    this.op = {
      type: "op",
      opId: `op-${place.index + 1}`,
      node: `node-${(place.index % 3) + 1}`,
      host: place.host,
      buyerId: `buyer-${place.index + 1}`,
      quantity: dice.between(1, options.maxQuantity),
      invokedNs: "0",
      outcome: "contended",
    };
  }

  /** @returns when the next may be granted */
  schedule(freeAt: number): number {
    const { dice, options } = this.world;
    const grantAt = freeAt + this.some();
    const invokedAt = Math.max(0, grantAt - dice.between(0, 20 * options.scale));
    this.op.invokedNs = this.stamp(invokedAt);
    this.op.waitNs = this.stamp(invokedAt);
    if (dice.chance(options.trouble / 3)) {
      this.op.answeredNs = this.stamp(grantAt);
      return freeAt;
    }
    return this.hold(grantAt);
  }

  private hold(grantAt: number): number {
    const { dice, options, events } = this.world;
    const { op } = this;
    const pause = () => (options.fenced && dice.chance(options.trouble) ? 30 * options.scale : 0);
    const readAt = grantAt + this.some() + pause();
    const writeAt = readAt + this.some() + pause();
    const endAt = writeAt + this.some();
    const leaseEndsAt = grantAt + 10 * options.scale;
    op.grantedNs = this.stamp(grantAt);
    op.holderId = `holder-${op.opId}`;
    if (options.fenced) op.fencingToken = String(this.token);
    op.releasedNs = this.stamp(endAt);
    op.answeredNs = this.stamp(endAt + this.some());
    const fails = dice.chance(options.trouble / 3);
    // Under a lock that works the turns follow one another also within an instant; where holders overlap, chance decides.
    const rank = options.fenced ? dice.next() : this.place.index;
    events.add({ at: dice.between(grantAt, readAt), rank }, () => this.read(readAt, fails));
    events.add({ at: dice.between(writeAt, endAt), rank: rank + dice.next() / 2 + 0.1 }, () =>
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
    const { dice, row, book, options } = this.world;
    const { op } = this;
    if (op.outcome !== "sold" || op.readValue === undefined) return;
    op.writeNs = this.stamp(writeAt);
    op.writtenValue = op.readValue - op.quantity;
    op.writeAccepted = !options.fenced || row.fence === this.token;
    const replyIsLost = dice.chance(options.trouble / 3);
    if (op.writeAccepted) {
      row.stock = op.writtenValue;
      op.orderId = book.insert(op);
      op.committedNs = this.stamp(endAt);
    } else op.outcome = "error";
    if (replyIsLost) this.forgetReply();
  }

  private forgetReply(): void {
    this.op.outcome = "unknown";
    for (const field of ["writeAccepted", "committedNs", "orderId"] as const) delete this.op[field];
  }

  private some(): number {
    return this.world.dice.between(0, this.world.options.scale);
  }

  private stamp(at: number): string {
    return (BigInt(at) + this.place.offset).toString();
  }
}
