import type { RedisCommands } from "../locks/redis/redis-port";
import type { StrategyTraits } from "../locks/types";
import { nowNs } from "../services/monotonic";
import type { CounterQueries } from "./counter-queries";
import { type CounterTaker, RedisCountedStock } from "./redis-counted-stock";
import { limitPerBuyerOf } from "./redis-counter";
import { sleepMs } from "./sleep";
import type { StockStore } from "./stock-store";

export const redisDecrementTraits: StrategyTraits = {
  id: "redis-decrement",
  family: "redis",
  kind: "atomic",
  mechanism:
    "Counts the stock in Redis: one Lua script checks, decrements and adds a journal entry; then writes the order.",
  remark: "one script",
  needs: ["redis"],
  waiting: "none",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
};

export interface CountedDependencies {
  readonly store: StockStore;
  readonly queries: CounterQueries;
  readonly redis: RedisCommands;
}

const taker: CounterTaker = {
  async take(request, counter) {
    const { trace, buyerId, quantity } = request;
    await sleepMs(request.holdMs);
    trace.attempts = 1;
    trace.readNs = nowNs();
    trace.writeNs = trace.readNs;
    return counter.take({ opId: trace.opId, buyerId, quantity }, limitPerBuyerOf(request));
  },
  async [Symbol.asyncDispose]() {
    // The client belongs to the caller that injected it.
  },
};

/**
 * One script takes units off a counter in Redis. The order and the row in PostgreSQL follow in one guarded statement.
 *
 * - Guarantees: one order per unit, and one coupon per buyer without a duplicate changing the counter. The condition and the
 *   unique index of PostgreSQL hold even if the counter is wrong or lost. When the counter is at 0, a purchase sends no SQL.
 * - Breaks under: a crash or a lost reply between script and order. The unit is then neither sold nor on sale until `reconcile`
 *   finds it in the journal; no unit is sold twice. A server that restarts without its data loses counter and journal; the next
 *   purchase initializes the counter from the row.
 * - Fencing token: none needed. Clock: the server's, for the age of journal entries.
 * - Units: integer stock units; `holdMs` passes before the script, because nothing is held.
 *
 * @throws {LockError} `backend_unavailable` when nothing was sold; `outcome_unknown` when the reply to the order is lost
 * @see https://redis.io/docs/latest/develop/programmability/eval-intro/
 */
export function createRedisDecrement(dependencies: CountedDependencies): RedisCountedStock {
  return new RedisCountedStock({ traits: redisDecrementTraits, taker, ...dependencies });
}
