import type { HistoryEndLine, HistoryOpLine, HistoryOrder, HistoryRunLine } from "../../types";

/** A whole history as objects; tests change it and write it out. */
export interface Sale {
  readonly run: HistoryRunLine;
  readonly ops: HistoryOpLine[];
  readonly end: HistoryEndLine;
}

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Numbers from a seed: equal seeds, equal sales. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. The generator is mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }
}

/** What happens at the servers, in the order of its times; of two at one instant the one with the lower rank is first. */
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

/** Hosts whose clocks have nothing to do with each other. */
export function clocks(dice: SeededRandom, hosts: number): { readonly host: string; readonly offset: bigint }[] {
  return Array.from({ length: hosts }, (_, index) => ({
    host: `host-${index + 1}`,
    offset: BigInt(dice.between(0, 1_000_000_000)) * 1_000_000n,
  }));
}

export function toNdjson({ run, ops, end }: Sale): string {
  return [run, ...ops, end].map((line) => `${JSON.stringify(line)}\n`).join("");
}
