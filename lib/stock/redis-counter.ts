import { RedisCalls } from "../locks/redis/redis-calls";
import type { RedisCommands } from "../locks/redis/redis-port";
import { defineScript } from "../locks/redis/script";
import type { JournalEntry } from "./redis-journal";
import { journalText, parseJournal } from "./redis-journal";
import { resourceOf, type StockTarget } from "./types";

/** Where a target's stock is kept in Redis. */
export interface CounterKeys {
  /** Units left to take; absent: PostgreSQL has to be asked first. */
  readonly counter: string;
  /** Set of the buyers who have theirs, for targets that give one each. */
  readonly buyers: string;
  /** Hash: op id -> entry, for every unit that was taken and whose order is not known to be in PostgreSQL yet. */
  readonly journal: string;
}

export function counterKeys(target: StockTarget): CounterKeys {
  const resource = resourceOf(target);
  return { counter: `stock:${resource}`, buyers: `buyers:${resource}`, journal: `journal:${resource}` };
}

/** What taking units came to; `uncounted`: there is no counter yet. */
export type Taken =
  | { readonly status: "taken"; readonly left: number }
  | { readonly status: "sold_out"; readonly left: number }
  | { readonly status: "already_claimed" }
  | { readonly status: "uncounted" };

export interface Take {
  readonly opId: string;
  readonly buyerId: string;
  readonly quantity: number;
}

/** Coupons are one each. */
export function isOneEach(target: StockTarget): boolean {
  return target.kind === "coupon";
}

const UNCOUNTED = -1;
const ALREADY_CLAIMED = -2;
const SOLD_OUT = -3;

/**
 * Takes units, remembers the buyer and enters both in the journal, or does none of it.
 * KEYS[1] counter · KEYS[2] buyers · KEYS[3] journal · ARGV[1] quantity · ARGV[2] buyer · ARGV[3] 1 for one each, else 0 ·
 * ARGV[4] op id · returns {units left, 0} when taken, else {units left, code} · atomic.
 */
const takeScript = defineScript(`
local left = tonumber(redis.call("GET", KEYS[1]))
if not left then return {0, ${UNCOUNTED}} end
if ARGV[3] == "1" and redis.call("SISMEMBER", KEYS[2], ARGV[2]) == 1 then return {left, ${ALREADY_CLAIMED}} end
if left < tonumber(ARGV[1]) then return {left, ${SOLD_OUT}} end
if ARGV[3] == "1" then redis.call("SADD", KEYS[2], ARGV[2]) end
local now = redis.call("TIME")
local atEpochMs = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call("HSET", KEYS[3], ARGV[4], string.format("%d:%.0f:%s", ARGV[1], atEpochMs, ARGV[2]))
return {redis.call("DECRBY", KEYS[1], ARGV[1]), 0}
`);

/**
 * Gives the units of a journal entry back, once: what is not in the journal any more has been settled.
 * KEYS[1] counter · KEYS[2] buyers · KEYS[3] journal · ARGV[1] op id · ARGV[2] quantity · ARGV[3] buyer to forget, or "" ·
 * returns 1 given back, 0 settled before · atomic. A counter that is gone is not made: the next one leaves out the journal.
 */
const giveBackScript = defineScript(`
if redis.call("HDEL", KEYS[3], ARGV[1]) == 0 then return 0 end
if redis.call("EXISTS", KEYS[1]) == 1 then redis.call("INCRBY", KEYS[1], ARGV[2]) end
if ARGV[3] ~= "" then redis.call("SREM", KEYS[2], ARGV[3]) end
return 1
`);

/**
 * Starts counting, unless somebody has: the units PostgreSQL has, less those in the journal, which it may not know of.
 * KEYS[1] counter · KEYS[2] journal · ARGV[1] stock · ARGV[2] seconds it may be trusted for · returns nothing · atomic.
 */
const startScript = defineScript(`
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
const lookScript = defineScript(`
local now = redis.call("TIME")
return {redis.call("GET", KEYS[1]), redis.call("HGETALL", KEYS[2]), now[1], now[2]}
`);

/** A counter the shop started follows what others sell from the row after this long at the latest. */
const SHOP_COUNTER_SECONDS = 30;
/** Longer than any run: a counter that was lost in mid-run shows. */
const RUN_COUNTER_SECONDS = 3_600;
/** Members of one SADD. */
const BUYERS_A_COMMAND = 1_000;

export interface CounterView {
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

  async take({ opId, buyerId, quantity }: Take): Promise<Taken> {
    const { counter, buyers, journal } = this.keys;
    const oneEach = isOneEach(this.target) ? 1 : 0;
    const reply = await this.calls.run(takeScript, [counter, buyers, journal], [quantity, buyerId, oneEach, opId]);
    const [left, code] = reply as [number, number];
    if (code === UNCOUNTED) return { status: "uncounted" };
    if (code === ALREADY_CLAIMED) return { status: "already_claimed" };
    return { status: code === SOLD_OUT ? "sold_out" : "taken", left };
  }

  /** @returns false when the entry had been settled before */
  async giveBack({ opId, buyerId, quantity }: Take, buyer: "forget" | "remember"): Promise<boolean> {
    const { counter, buyers, journal } = this.keys;
    const forgotten = buyer === "forget" && isOneEach(this.target) ? buyerId : "";
    return (await this.calls.run(giveBackScript, [counter, buyers, journal], [opId, quantity, forgotten])) === 1;
  }

  /** The order is in PostgreSQL: the entry has done its work. */
  async settle(opId: string): Promise<void> {
    await this.calls.call("HDEL", this.keys.journal, opId);
  }

  /** Two steps: buyers first, so that nobody is sold a second one in between. */
  async start(stock: number, buyers: readonly string[]): Promise<void> {
    await this.remember(buyers);
    await this.calls.run(startScript, [this.keys.counter, this.keys.journal], [stock, SHOP_COUNTER_SECONDS]);
  }

  /** Two steps, for a target that nobody is buying from. */
  async reset(stock: number, buyers: readonly string[]): Promise<void> {
    await this.calls.run(
      resetScript,
      [this.keys.counter, this.keys.buyers, this.keys.journal],
      [stock, RUN_COUNTER_SECONDS],
    );
    await this.remember(buyers);
  }

  /** @returns whether it was corrected: nothing was under way, and the counter still was what was read */
  async correct(read: number, right: number): Promise<boolean> {
    return (await this.calls.run(correctScript, [this.keys.counter, this.keys.journal], [read, right])) === 1;
  }

  async look(): Promise<CounterView> {
    const reply = await this.calls.run(lookScript, [this.keys.counter, this.keys.journal]);
    const [left, fields, seconds, micros] = reply as [string | null, string[], string, string];
    return {
      left: left === null ? null : Number(left),
      journal: parseJournal(fields),
      atEpochMs: Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000),
    };
  }

  /** What a transaction of somebody else's connection has to do, to be the same as `take`. */
  takeCommands({ opId, buyerId, quantity }: Take, atEpochMs: number): readonly (readonly (string | number)[])[] {
    const { counter, buyers, journal } = this.keys;
    return [
      ["DECRBY", counter, quantity],
      ["HSET", journal, opId, journalText({ quantity, buyerId, takenAtEpochMs: atEpochMs })],
      ...(isOneEach(this.target) ? [["SADD", buyers, buyerId]] : []),
    ];
  }

  private async remember(buyers: readonly string[]): Promise<void> {
    for (let from = 0; from < buyers.length; from += BUYERS_A_COMMAND) {
      await this.calls.call("SADD", this.keys.buyers, ...buyers.slice(from, from + BUYERS_A_COMMAND));
    }
  }
}
