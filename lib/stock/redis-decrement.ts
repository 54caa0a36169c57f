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
    "Stock in Redis: one Lua script checks, decrements, remembers the buyer and enters a journal; then the order.",
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
    // The client belongs to whoever injected it.
  },
};

/**
 * Units leave a counter in Redis by one script; the order and the row in PostgreSQL follow in one guarded statement.
 *
 * - Guarantees: never two buyers for one unit, and one coupon a buyer without a duplicate draining the counter; the row's
 *   own guard and unique index hold even where the counter is wrong or lost. Whoever finds the counter at nothing is
 *   turned away without PostgreSQL being asked.
 * - Breaks under: a crash, or a lost reply, between the script and the order. The unit is then neither sold nor on
 *   sale until `reconcile` finds it in the journal; nothing is sold twice. A server restarted empty loses counter
 *   and journal; the next purchase counts anew from the row.
 * - Fencing token: none, and none is needed. Clock: the server's, for the age of journal entries.
 * - Units: integer stock units; `holdMs` is spent before the script, since nothing is held.
 *
 * @throws {LockError} `backend_unavailable` when nothing was sold, `outcome_unknown` when the order's reply was lost
 * @see https://redis.io/docs/latest/develop/programmability/eval-intro/
 */
export function createRedisDecrement(dependencies: CountedDependencies): RedisCountedStock {
  return new RedisCountedStock({ traits: redisDecrementTraits, taker, ...dependencies });
}
