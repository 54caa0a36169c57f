import { RedisCalls } from "../locks/redis/redis-calls";
import type { RedisCommands } from "../locks/redis/redis-port";
import { AT_LIMIT, counterScripts, NO_COUNTER, SOLD_OUT } from "./redis-counter-scripts";
import type { JournalEntry } from "./redis-journal";
import { journalText, parseJournal } from "./redis-journal";
import { resourceOf, type StockRequest, type StockTarget } from "./types";

/** The Redis keys of a target. */
export interface CounterKeys {
  /** Units left. If absent, it is initialized from PostgreSQL. */
  readonly counter: string;
  /** Hash: buyer -> units, for targets with a limit per buyer. May lag behind PostgreSQL, whose constraints decide. */
  readonly buyers: string;
  /** Hash: op id -> entry, for units that were taken and whose order may not be in PostgreSQL yet. */
  readonly journal: string;
}

export function counterKeys(target: StockTarget): CounterKeys {
  const resource = resourceOf(target);
  return { counter: `stock:${resource}`, buyers: `bought:${resource}`, journal: `journal:${resource}` };
}

/** Result of taking units. `no_counter`: the counter does not exist. */
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

/** Units that one buyer may have; 0: unlimited. A coupon is always limited to one. */
export function limitPerBuyerOf({ target, limitPerBuyer }: Pick<StockRequest, "target" | "limitPerBuyer">): number {
  return target.kind === "coupon" ? 1 : (limitPerBuyer ?? 0);
}

/** Units that a buyer has of a target. */
export interface BuyerUnits {
  readonly buyer: string;
  readonly units: number;
}

/** Expiry of a counter created outside runs, so that it follows sales from the row by other strategies. */
const SHOP_COUNTER_SECONDS = 30;
/** Longer than any run, so that a counter that vanishes during a run was lost by the server. */
const RUN_COUNTER_SECONDS = 3_600;
/** Maximum number of buyers per HSET. */
const MAX_BUYERS_PER_COMMAND = 1_000;

/** Keys per SCAN, and the maximum number of SCANs: bounds the search on a server full of other keys. */
const SCAN_COUNT = 1_000;
const MAX_SCANS = 200;
const COUNTER_OR_JOURNAL = /^(?:stock|journal):((product|coupon):([1-9][0-9]{0,9}))$/;

/** Lists the targets that have a counter or a journal. */
export async function listCounted(commands: RedisCommands, strategyId: string): Promise<StockTarget[]> {
  const calls = new RedisCalls(commands, { strategyId, resource: "stock:*" });
  const found = new Map<string, StockTarget>();
  let cursor = "0";
  for (let scans = 0; scans < MAX_SCANS; scans += 1) {
    const reply = await calls.call("SCAN", cursor, "MATCH", "*:[pc]*:[1-9]*", "COUNT", SCAN_COUNT);
    const [next, keys] = reply as [string, string[]];
    for (const key of keys) {
      const [, resource = "", kind, id] = COUNTER_OR_JOURNAL.exec(key) ?? [];
      if (kind === "product" || kind === "coupon") found.set(resource, { kind, id: Number(id) });
    }
    cursor = next;
    if (cursor === "0") break;
  }
  return [...found.values()];
}

export interface CounterSnapshot {
  /** Null when the counter does not exist. */
  readonly left: number | null;
  readonly journal: readonly JournalEntry[];
  readonly atEpochMs: number;
}

/** The stock of one target in Redis. Every method is one atomic step unless its comment says otherwise. */
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

  /** @returns false when the entry was settled before */
  async giveBack({ opId, buyerId, quantity }: Take, buyer: "remove_buyer" | "keep_buyer"): Promise<boolean> {
    const { counter, buyers, journal } = this.keys;
    const forgotten = buyer === "remove_buyer" ? buyerId : "";
    return (
      (await this.calls.run(counterScripts.giveBack, [counter, buyers, journal], [opId, quantity, forgotten])) === 1
    );
  }

  /** Adds entries for units that are about to come back. `giveBack` then returns them; `removeEntry` cancels the return. */
  async announceReturn(entries: readonly Take[]): Promise<void> {
    const values = entries.flatMap(({ opId, quantity, buyerId }) => [opId, quantity, buyerId]);
    await this.calls.run(counterScripts.announce, [this.keys.journal], values);
  }

  /** Removes an entry without giving its units back, for example because its order is in PostgreSQL. */
  async removeEntry(opId: string): Promise<void> {
    await this.calls.call("HDEL", this.keys.journal, opId);
  }

  /** Two steps: first the buyers, so that no buyer exceeds the limit in between. */
  async initialize(stock: number, buyers: readonly BuyerUnits[]): Promise<void> {
    await this.storeBuyers(buyers);
    await this.calls.run(
      counterScripts.initialize,
      [this.keys.counter, this.keys.journal],
      [stock, SHOP_COUNTER_SECONDS],
    );
  }

  /** Two steps, so no purchase of the target may be running. */
  async reset(stock: number, buyers: readonly BuyerUnits[]): Promise<void> {
    await this.calls.run(
      counterScripts.reset,
      [this.keys.counter, this.keys.buyers, this.keys.journal],
      [stock, RUN_COUNTER_SECONDS],
    );
    await this.storeBuyers(buyers);
  }

  /** Deletes counter and buyers. The next purchase creates them from PostgreSQL and subtracts the journal, which stays. */
  async remove(): Promise<void> {
    await this.calls.call("DEL", this.keys.counter, this.keys.buyers);
  }

  /** @returns false when the counter had changed since it was read, or the journal was not empty */
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

  /** The commands that a MULTI transaction must contain to have the effect of `take`. */
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

  /** Stores the units per buyer from PostgreSQL. One command per 1,000 buyers. */
  async storeBuyers(buyers: readonly BuyerUnits[]): Promise<void> {
    for (let from = 0; from < buyers.length; from += MAX_BUYERS_PER_COMMAND) {
      const fields = buyers.slice(from, from + MAX_BUYERS_PER_COMMAND).flatMap(({ buyer, units }) => [buyer, units]);
      await this.calls.call("HSET", this.keys.buyers, ...fields);
    }
  }
}
