import { RedisCalls } from "../locks/redis/redis-calls";
import type { RedisCommands } from "../locks/redis/redis-port";
import { AT_LIMIT, counterScripts, NO_COUNTER, SOLD_OUT } from "./redis-counter-scripts";
import type { JournalEntry } from "./redis-journal";
import { journalText, parseJournal } from "./redis-journal";
import { resourceOf, type StockRequest, type StockTarget } from "./types";

/** Where a target's stock is kept in Redis. */
export interface CounterKeys {
  /** Units left to take; absent: PostgreSQL has to be asked first. */
  readonly counter: string;
  /** Hash: buyer -> units, for targets that limit them. May lag behind PostgreSQL, whose index has the last word. */
  readonly buyers: string;
  /** Hash: op id -> entry, for every unit that was taken and whose order is not known to be in PostgreSQL yet. */
  readonly journal: string;
}

export function counterKeys(target: StockTarget): CounterKeys {
  const resource = resourceOf(target);
  return { counter: `stock:${resource}`, buyers: `bought:${resource}`, journal: `journal:${resource}` };
}

/** What taking units came to; `uncounted`: there is no counter yet. */
export type TakeResult =
  | { readonly status: "taken"; readonly left: number }
  | { readonly status: "sold_out"; readonly left: number }
  | { readonly status: "at_limit" }
  | { readonly status: "no_counter" };

export interface Take {
  readonly opId: string;
  readonly buyerId: string;
  readonly quantity: number;
}

/** Units one buyer may have; 0: as many as there are. Coupons are one each. */
export function limitPerBuyerOf({ target, limitPerBuyer }: Pick<StockRequest, "target" | "limitPerBuyer">): number {
  return target.kind === "coupon" ? 1 : (limitPerBuyer ?? 0);
}

/** What a buyer has of a target. */
export interface BuyerUnits {
  readonly buyer: string;
  readonly units: number;
}

/** A counter the shop started follows what others sell from the row after this long at the latest. */
const SHOP_COUNTER_SECONDS = 30;
/** Longer than any run: a counter that was lost in mid-run shows. */
const RUN_COUNTER_SECONDS = 3_600;
/** Fields of one HSET. */
const BUYERS_A_COMMAND = 1_000;

/** Keys looked at in one step, and steps at most: a server full of something else is not searched for ever. */
const SCAN_COUNT = 1_000;
const MAX_SCANS = 200;
const JOURNAL_KEY = /^journal:(product|coupon):([1-9][0-9]{0,9})$/;

/** The targets that have a journal. */
export async function listJournals(commands: RedisCommands, strategyId: string): Promise<StockTarget[]> {
  const calls = new RedisCalls(commands, { strategyId, resource: "journal:*" });
  const found = new Map<string, StockTarget>();
  let cursor = "0";
  for (let scans = 0; scans < MAX_SCANS; scans += 1) {
    const reply = await calls.call("SCAN", cursor, "MATCH", "journal:*", "COUNT", SCAN_COUNT);
    const [next, keys] = reply as [string, string[]];
    for (const key of keys) {
      const [, kind, id] = JOURNAL_KEY.exec(key) ?? [];
      if (kind === "product" || kind === "coupon") found.set(key, { kind, id: Number(id) });
    }
    cursor = next;
    if (cursor === "0") break;
  }
  return [...found.values()];
}

export interface CounterSnapshot {
  /** Null: not counted yet. */
  readonly left: number | null;
  readonly journal: readonly JournalEntry[];
  readonly atEpochMs: number;
}

/** One target's stock in Redis. Every method is one atomic step unless it says otherwise. */
export class RedisCounter {
  readonly keys: CounterKeys;
  private readonly calls: RedisCalls;

  constructor(
    commands: RedisCommands,
    readonly target: StockTarget,
    strategyId: string,
  ) {
    this.keys = counterKeys(target);
    this.calls = new RedisCalls(commands, { strategyId, resource: resourceOf(target) });
  }

  async take({ opId, buyerId, quantity }: Take, limit: number): Promise<TakeResult> {
    const { counter, buyers, journal } = this.keys;
    const reply = await this.calls.run(
      counterScripts.take,
      [counter, buyers, journal],
      [quantity, buyerId, limit, opId],
    );
    const [left, code] = reply as [number, number];
    if (code === NO_COUNTER) return { status: "no_counter" };
    if (code === AT_LIMIT) return { status: "at_limit" };
    return { status: code === SOLD_OUT ? "sold_out" : "taken", left };
  }

  /** @returns false when the entry had been settled before */
  async giveBack({ opId, buyerId, quantity }: Take, buyer: "remove_buyer" | "keep_buyer"): Promise<boolean> {
    const { counter, buyers, journal } = this.keys;
    const forgotten = buyer === "remove_buyer" ? buyerId : "";
    return (
      (await this.calls.run(counterScripts.giveBack, [counter, buyers, journal], [opId, quantity, forgotten])) === 1
    );
  }

  /** Enters units that are about to come back; `giveBack` then returns them, `settle` says that they did not come. */
  async announceReturn(entries: readonly Take[]): Promise<void> {
    const values = entries.flatMap(({ opId, quantity, buyerId }) => [opId, quantity, buyerId]);
    await this.calls.run(counterScripts.announce, [this.keys.journal], values);
  }

  /** The order is in PostgreSQL: the entry has done its work. */
  async removeEntry(opId: string): Promise<void> {
    await this.calls.call("HDEL", this.keys.journal, opId);
  }

  /** Two steps: buyers first, so that nobody is sold a second one in between. */
  async initialize(stock: number, buyers: readonly BuyerUnits[]): Promise<void> {
    await this.storeBuyers(buyers);
    await this.calls.run(
      counterScripts.initialize,
      [this.keys.counter, this.keys.journal],
      [stock, SHOP_COUNTER_SECONDS],
    );
  }

  /** Two steps, for a target that nobody is buying from. */
  async reset(stock: number, buyers: readonly BuyerUnits[]): Promise<void> {
    await this.calls.run(
      counterScripts.reset,
      [this.keys.counter, this.keys.buyers, this.keys.journal],
      [stock, RUN_COUNTER_SECONDS],
    );
    await this.storeBuyers(buyers);
  }

  /** @returns whether it was corrected: nothing was under way, and the counter still was what was read */
  async correct(read: number, right: number): Promise<boolean> {
    return (await this.calls.run(counterScripts.correct, [this.keys.counter, this.keys.journal], [read, right])) === 1;
  }

  async snapshot(): Promise<CounterSnapshot> {
    const reply = await this.calls.run(counterScripts.snapshot, [this.keys.counter, this.keys.journal]);
    const [left, fields, seconds, micros] = reply as [string | null, string[], string, string];
    return {
      left: left === null ? null : Number(left),
      journal: parseJournal(fields),
      atEpochMs: Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000),
    };
  }

  /** What a transaction of somebody else's connection has to do, to be the same as `take`. */
  takeCommands(
    { opId, buyerId, quantity }: Take,
    { limit, atEpochMs }: { readonly limit: number; readonly atEpochMs: number },
  ): readonly (readonly (string | number)[])[] {
    const { counter, buyers, journal } = this.keys;
    return [
      ["DECRBY", counter, quantity],
      ["HSET", journal, opId, journalText({ quantity, buyerId, takenAtEpochMs: atEpochMs })],
      ...(limit > 0 ? [["HINCRBY", buyers, buyerId, quantity]] : []),
    ];
  }

  /** Takes over what PostgreSQL says that buyers have. */
  async storeBuyers(buyers: readonly BuyerUnits[]): Promise<void> {
    for (let from = 0; from < buyers.length; from += BUYERS_A_COMMAND) {
      const fields = buyers.slice(from, from + BUYERS_A_COMMAND).flatMap(({ buyer, units }) => [buyer, units]);
      await this.calls.call("HSET", this.keys.buyers, ...fields);
    }
  }
}
