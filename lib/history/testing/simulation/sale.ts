import type { HistoryEndLine, HistoryOpLine, HistoryOrder, HistoryRunLine } from "../../types";

/** A history as objects that tests change and then serialize. */
export interface Sale {
  readonly run: HistoryRunLine;
  readonly ops: HistoryOpLine[];
  readonly end: HistoryEndLine;
}

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Pseudo-random numbers: the same seed gives the same sale. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 (inclusive) to 1 (exclusive). The generator is mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `low` to `high`, both inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }
}

/** Events at the servers, run in order of time; at the same time the lower rank runs first. */
export class EventQueue {
  private readonly entries: { readonly at: number; readonly rank: number; readonly act: () => void }[] = [];

  add({ at, rank }: { readonly at: number; readonly rank: number }, act: () => void): void {
    this.entries.push({ at, rank, act });
  }

  run(): void {
    this.entries.sort((a, b) => a.at - b.at || a.rank - b.rank);
    for (const entry of this.entries) entry.act();
  }
}

/** The database's order table. */
export class OrderBook {
  readonly orders: HistoryOrder[] = [];

  insert(op: Pick<HistoryOpLine, "opId" | "buyerId" | "quantity">): string {
    const orderId = `order-${this.orders.length + 1}`;
    this.orders.push({ orderId, opId: op.opId, buyerId: op.buyerId, quantity: op.quantity });
    return orderId;
  }
}

/** Hosts with unrelated clock offsets. */
export function clocks(random: SeededRandom, hosts: number): { readonly host: string; readonly offset: bigint }[] {
  return Array.from({ length: hosts }, (_, index) => ({
    host: `host-${index + 1}`,
    offset: BigInt(random.between(0, 1_000_000_000)) * 1_000_000n,
  }));
}

export function toNdjson({ run, ops, end }: Sale): string {
  return [run, ...ops, end].map((line) => `${JSON.stringify(line)}\n`).join("");
}
