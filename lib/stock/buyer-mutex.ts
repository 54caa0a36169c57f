import type { MemcachedCommands } from "../locks/memcached/memcached-port";
import { elapsedMs, nowNs } from "../services/monotonic";
import { sleepMs } from "./sleep";
import { resourceOf, type StockOutcome, type StockRequest } from "./types";

/** The key of a crashed purchase expires this long after the longest possible purchase. */
const GRACE_SECONDS = 5;

/**
 * Runs the purchases of one buyer and target one at a time, by a key in Memcached that only one of them can add. It keeps duplicate
 * clicks away from the counter and guarantees nothing: PostgreSQL's unique index rejects those that still overlap.
 */
export class BuyerMutex {
  constructor(
    private readonly client: MemcachedCommands,
    private readonly delayMs: (attempt: number) => number,
  ) {}

  /** @returns `contended` when another purchase of the buyer ran for the whole wait timeout */
  async run(request: StockRequest, work: () => Promise<StockOutcome>): Promise<StockOutcome> {
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
      // A negative expiry deletes the key. If this fails, the key expires later.
      await Promise.allSettled([this.client.set({ ...item, expirySeconds: -1 })]);
    }
  }
}
