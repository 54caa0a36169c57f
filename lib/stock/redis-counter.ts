import { RedisCalls } from "../locks/redis/redis-calls";
import type { RedisCommands } from "../locks/redis/redis-port";
import { defineScript } from "../locks/redis/script";
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

const NO_COUNTER = -1;
const AT_LIMIT = -2;
const SOLD_OUT = -3;

/**
 * Takes units, remembers the buyer and enters both in the journal, or does none of it.
 * KEYS[1] counter · KEYS[2] buyers · KEYS[3] journal · ARGV[1] quantity · ARGV[2] buyer · ARGV[3] limit a buyer, or 0 ·
 * ARGV[4] op id · returns {units left, 0} when taken, else {units left, code} · atomic.
 */
const takeScript = defineScript(`
local left = tonumber(redis.call("GET", KEYS[1]))
if not left then return {0, ${NO_COUNTER}} end
local limit = tonumber(ARGV[3])
if limit > 0 then
  local had = tonumber(redis.call("HGET", KEYS[2], ARGV[2]) or "0")
  if had + tonumber(ARGV[1]) > limit then return {left, ${AT_LIMIT}} end
end
if left < tonumber(ARGV[1]) then return {left, ${SOLD_OUT}} end
if limit > 0 then redis.call("HINCRBY", KEYS[2], ARGV[2], ARGV[1]) end
local now = redis.call("TIME")
local atEpochMs = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call("HSET", KEYS[3], ARGV[4], string.format("%d:%.0f:%s", ARGV[1], atEpochMs, ARGV[2]))
return {redis.call("DECRBY", KEYS[1], ARGV[1]), 0}
`);

/**
 * Gives the units of a journal entry back, once: what is not in the journal any more has been settled.
 * KEYS[1] counter · KEYS[2] buyers · KEYS[3] journal · ARGV[1] op id · ARGV[2] quantity · ARGV[3] buyer who has them no more, or "" ·
 * returns 1 given back, 0 settled before · atomic. A counter that is gone is not made: the next one leaves out the journal.
 */
const giveBackScript = defineScript(`
if redis.call("HDEL", KEYS[3], ARGV[1]) == 0 then return 0 end
if redis.call("EXISTS", KEYS[1]) == 1 then redis.call("INCRBY", KEYS[1], ARGV[2]) end
if ARGV[3] ~= "" and redis.call("HEXISTS", KEYS[2], ARGV[3]) == 1 then
  if redis.call("HINCRBY", KEYS[2], ARGV[3], -ARGV[2]) <= 0 then redis.call("HDEL", KEYS[2], ARGV[3]) end
end
return 1
`);

/**
 * Announces units that are about to come back, so that a crash on the way leaves a trace.
 * KEYS[1] journal · ARGV op id, quantity, buyer of each · returns nothing · atomic.
 */
const announceScript = defineScript(`
local now = redis.call("TIME")
local atEpochMs = now[1] * 1000 + math.floor(now[2] / 1000)
for i = 1, #ARGV, 3 do
  redis.call("HSET", KEYS[1], ARGV[i], string.format("%d:%.0f:%s", ARGV[i + 1], atEpochMs, ARGV[i + 2]))
end
`);

/**
 * Starts counting, unless somebody has: the units PostgreSQL has, less those in the journal, which it may not know of.
 * KEYS[1] counter · KEYS[2] journal · ARGV[1] stock · ARGV[2] seconds it may be trusted for · returns nothing · atomic.
 */
const initializeScript = defineScript(`
local left = tonumber(ARGV[1])
for _, entry in ipairs(redis.call("HVALS", KEYS[2])) do
  left = left - tonumber(string.match(entry, "^%d+"))
end
redis.call("SET", KEYS[1], math.max(left, 0), "NX", "EX", ARGV[2])
`);

/**
 * Sets the counter anew and forgets what was before.
 * KEYS[1] counter · KEYS[2] buyers · KEYS[3] journal · ARGV[1] stock · ARGV[2] seconds to keep it · returns nothing · atomic.
 */
const resetScript = defineScript(`
redis.call("DEL", KEYS[2], KEYS[3])
redis.call("SET", KEYS[1], ARGV[1], "EX", ARGV[2])
`);

/**
 * Corrects the counter if nothing has happened since it was read and nothing is under way.
 * KEYS[1] counter · KEYS[2] journal · ARGV[1] value read · ARGV[2] right value · returns 1 corrected, 0 not · atomic.
 */
const correctScript = defineScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] or redis.call("HLEN", KEYS[2]) > 0 then return 0 end
redis.call("SET", KEYS[1], ARGV[2], "KEEPTTL")
return 1
`);

/**
 * Counter and journal as of one moment, and that moment on the server's clock.
 * KEYS[1] counter · KEYS[2] journal · returns {counter or nil, journal fields and values, seconds, microseconds} · atomic.
 */
const snapshotScript = defineScript(`
local now = redis.call("TIME")
return {redis.call("GET", KEYS[1]), redis.call("HGETALL", KEYS[2]), now[1], now[2]}
`);

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
    const reply = await this.calls.run(takeScript, [counter, buyers, journal], [quantity, buyerId, limit, opId]);
    const [left, code] = reply as [number, number];
    if (code === NO_COUNTER) return { status: "no_counter" };
    if (code === AT_LIMIT) return { status: "at_limit" };
    return { status: code === SOLD_OUT ? "sold_out" : "taken", left };
  }

  /** @returns false when the entry had been settled before */
  async giveBack({ opId, buyerId, quantity }: Take, buyer: "remove_buyer" | "keep_buyer"): Promise<boolean> {
    const { counter, buyers, journal } = this.keys;
    const forgotten = buyer === "remove_buyer" ? buyerId : "";
    return (await this.calls.run(giveBackScript, [counter, buyers, journal], [opId, quantity, forgotten])) === 1;
  }

  /** Enters units that are about to come back; `giveBack` then returns them, `settle` says that they did not come. */
  async announceReturn(entries: readonly Take[]): Promise<void> {
    const values = entries.flatMap(({ opId, quantity, buyerId }) => [opId, quantity, buyerId]);
    await this.calls.run(announceScript, [this.keys.journal], values);
  }

  /** The order is in PostgreSQL: the entry has done its work. */
  async removeEntry(opId: string): Promise<void> {
    await this.calls.call("HDEL", this.keys.journal, opId);
  }

  /** Two steps: buyers first, so that nobody is sold a second one in between. */
  async initialize(stock: number, buyers: readonly BuyerUnits[]): Promise<void> {
    await this.storeBuyers(buyers);
    await this.calls.run(initializeScript, [this.keys.counter, this.keys.journal], [stock, SHOP_COUNTER_SECONDS]);
  }

  /** Two steps, for a target that nobody is buying from. */
  async reset(stock: number, buyers: readonly BuyerUnits[]): Promise<void> {
    await this.calls.run(
      resetScript,
      [this.keys.counter, this.keys.buyers, this.keys.journal],
      [stock, RUN_COUNTER_SECONDS],
    );
    await this.storeBuyers(buyers);
  }

  /** @returns whether it was corrected: nothing was under way, and the counter still was what was read */
  async correct(read: number, right: number): Promise<boolean> {
    return (await this.calls.run(correctScript, [this.keys.counter, this.keys.journal], [read, right])) === 1;
  }

  async snapshot(): Promise<CounterSnapshot> {
    const reply = await this.calls.run(snapshotScript, [this.keys.counter, this.keys.journal]);
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
