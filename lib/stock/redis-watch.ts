import type { RedisSession } from "../locks/redis/redis-port";
import { asRedisError } from "../locks/redis/script";
import type { StrategyTraits } from "../locks/types";
import { elapsedMs, nowNs } from "../services/monotonic";
import { recordPoolWait } from "./pool-wait";
import { type Contended, type CounterTaker, RedisCountedStock } from "./redis-counted-stock";
import { limitPerBuyerOf, type RedisCounter, type TakeResult } from "./redis-counter";
import type { CountedDependencies } from "./redis-decrement";
import { RedisSessionPool } from "./redis-session-pool";
import { retryDelayMs } from "./retry-delay";
import { sleepMs } from "./sleep";
import { resourceOf, type StockRequest } from "./types";
import { clearWriteResult, recordLostWrite } from "./write-record";

export const redisWatchTraits: StrategyTraits = {
  id: "redis-watch",
  family: "redis",
  kind: "atomic",
  mechanism:
    "Counts the stock in Redis: WATCH, read, decrement in MULTI/EXEC, retry if it changed; then writes the order.",
  remark: "retries",
  needs: ["redis"],
  waiting: "retry",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
};

/** Connections per process. An attempt needs an exclusive connection from WATCH to EXEC. */
const SESSIONS = 16;

export interface RedisWatchDependencies extends CountedDependencies {
  readonly openSession: () => RedisSession;
  readonly random: () => number;
}

class WatchTaker implements CounterTaker {
  private readonly sessions: RedisSessionPool;

  constructor(
    openSession: () => RedisSession,
    private readonly random: () => number,
  ) {
    this.sessions = new RedisSessionPool(openSession, SESSIONS);
  }

  async take(request: StockRequest, counter: RedisCounter): Promise<TakeResult | Contended> {
    const { trace, signal } = request;
    trace.waitNs ??= nowNs();
    const startedNs = trace.waitNs;
    for (let attempt = (trace.attempts ?? 0) + 1; ; attempt += 1) {
      trace.attempts = attempt;
      const taken = await this.tryOnSession(request, counter, request.waitTimeoutMs - elapsedMs(startedNs));
      if (taken !== "conflict" && taken !== "no session") return taken;
      const waitedMs = elapsedMs(startedNs);
      const delayMs = retryDelayMs(attempt, this.random);
      if (taken === "no session" || waitedMs + delayMs >= request.waitTimeoutMs || signal?.aborted) {
        return { status: "contended", waitedMs, attempts: attempt };
      }
      await sleepMs(delayMs);
    }
  }

  private async tryOnSession(
    request: StockRequest,
    counter: RedisCounter,
    limitMs: number,
  ): Promise<TakeResult | "conflict" | "no session"> {
    const { trace, signal } = request;
    const requestedNs = nowNs();
    const session = await this.sessions.borrow({ limitMs, signal });
    recordPoolWait(trace, requestedNs, "wait");
    if (!session) return "no session";
    try {
      return await tryOnce(session, request, counter);
    } catch (error) {
      // The connection may still watch keys or have an open transaction.
      session.close();
      throw asRedisError(error, { strategyId: redisWatchTraits.id, resource: resourceOf(request.target) });
    } finally {
      this.sessions.giveBack(session);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sessions[Symbol.asyncDispose]();
  }
}

/** One attempt on an exclusive connection: two round trips with `holdMs` of work in between. */
async function tryOnce(
  session: RedisSession,
  request: StockRequest,
  counter: RedisCounter,
): Promise<TakeResult | "conflict"> {
  const { trace, buyerId, quantity } = request;
  const { counter: key, buyers } = counter.keys;
  const limit = limitPerBuyerOf(request);
  const [, read, had, time] = await Promise.all([
    session.call("WATCH", key, buyers),
    session.call("GET", key),
    limit > 0 ? session.call("HGET", buyers, buyerId) : null,
    session.call("TIME"),
  ]);
  trace.readNs = nowNs();
  const left = Number(read);
  const early: TakeResult | null =
    read === null
      ? { status: "no_counter" }
      : limit > 0 && Number(had ?? 0) + quantity > limit
        ? { status: "at_limit" }
        : left < quantity
          ? { status: "sold_out", left }
          : null;
  if (early) {
    await session.call("UNWATCH");
    return early;
  }
  await sleepMs(request.holdMs);
  trace.writeNs = nowNs();
  clearWriteResult(trace);
  const [seconds] = time as [string, string];
  const commands = counter.takeCommands(
    { opId: trace.opId, buyerId, quantity },
    { limit, atEpochMs: Number(seconds) * 1_000 },
  );
  const replies = await Promise.all([
    session.call("MULTI"),
    ...commands.map(([command = "", ...parameters]) => session.call(String(command), ...parameters)),
    session.call("EXEC"),
  ]);
  if (replies.at(-1) !== null) return { status: "taken", left: left - quantity };
  recordLostWrite(trace);
  return "conflict";
}

/**
 * Optimistic concurrency on a counter in Redis: `WATCH`, read, and decrement in a transaction that fails if the counter has
 * changed. The order and the row in PostgreSQL follow in one guarded statement.
 *
 * - Guarantees: the same as `redis-decrement`. Of the purchases that read the same value, one succeeds. Under high contention most
 *   attempts fail, and buyers get `contended` at their timeout.
 * - Breaks under: a crash or a lost reply between EXEC and order. The unit is then neither sold nor on sale until `reconcile`
 *   finds it in the journal; no unit is sold twice.
 * - Fencing token: none; the watch serves as one. A lost connection has lost its watch, so it is not reconnected.
 * - Clock: the server's, for the age of journal entries; the caller's, for the timeout.
 * - Units: integer stock units; `holdMs` passes between read and write of every attempt.
 *
 * @throws {LockError} `backend_unavailable` when nothing was sold; `outcome_unknown` when the reply to the order is lost
 * @see https://redis.io/docs/latest/develop/using-commands/transactions/
 */
export function createRedisWatch({ openSession, random, ...dependencies }: RedisWatchDependencies): RedisCountedStock {
  const taker = new WatchTaker(openSession, random);
  return new RedisCountedStock({ traits: redisWatchTraits, taker, ...dependencies });
}
