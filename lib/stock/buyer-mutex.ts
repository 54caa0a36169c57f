import type { MemcachedCommands } from "../locks/memcached/memcached-port";
import { elapsedMs, nowNs } from "../services/monotonic";
import { sleepMs } from "./sleep";
import { resourceOf, type StockOutcome, type StockRequest } from "./types";

/** After this long, beyond what a purchase may take, a claim whose owner died is gone. */
const GRACE_SECONDS = 5;

/**
 * Purchases of one target by one buyer take turns, by a key of his in Memcached that only one of them can add. It saves the
 * counter from duplicate clicks and promises nothing: two that are in between all the same meet PostgreSQL's index.
 */
export class BuyerMutex {
  constructor(
    private readonly client: MemcachedCommands,
    private readonly delayMs: (attempt: number) => number,
  ) {}

  /** @returns `contended` when another purchase of his was under way for as long as this one may wait */
  async inTurn(request: StockRequest, work: () => Promise<StockOutcome>): Promise<StockOutcome> {
    const { target, buyerId, waitTimeoutMs, holdMs, trace, signal } = request;
    const expirySeconds = Math.ceil((waitTimeoutMs + holdMs) / 1_000) + GRACE_SECONDS;
    const item = {
      key: `claim:${resourceOf(target)}:${encodeURIComponent(buyerId)}`,
      value: trace.opId,
      expirySeconds,
    };
    const startedNs = nowNs();
    for (let attempt = 1; !(await this.client.add(item)); attempt += 1) {
      const waitedMs = elapsedMs(startedNs);
      const delayMs = this.delayMs(attempt);
      if (waitedMs + delayMs >= waitTimeoutMs || signal?.aborted) {
        return { status: "contended", waitedMs, attempts: attempt };
      }
      await sleepMs(delayMs);
    }
    try {
      return await work();
    } finally {
      // Expired at once. Where this fails, the claim's own expiry frees the buyer.
      await Promise.allSettled([this.client.set({ ...item, expirySeconds: -1 })]);
    }
  }
}
