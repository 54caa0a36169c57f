import { createHash } from "node:crypto";
import { createMemcachedAdd } from "../locks/memcached/memcached-add";
import type { MemcachedCommands } from "../locks/memcached/memcached-port";
import type { RunnerDependencies } from "../locks/runner-context";
import type { LockStrategy } from "../locks/types";
import { resourceOf, type StockOutcome, type StockRequest } from "./types";

/** How long the key of a crashed purchase blocks its buyer. The lock renews it while a purchase runs. */
const TTL_MS = 5_000;

/**
 * Runs the purchases of one buyer and target one at a time, by the lock `memcached-add`. It keeps duplicate clicks away from the
 * counter and guarantees nothing: PostgreSQL's unique index rejects those that still overlap.
 */
export class BuyerMutex implements AsyncDisposable {
  private readonly lock: LockStrategy;

  constructor(client: MemcachedCommands, dependencies: RunnerDependencies) {
    this.lock = createMemcachedAdd(client, dependencies);
  }

  /** @returns `contended` when another purchase of the buyer ran for the whole wait timeout */
  async run(request: StockRequest, work: () => Promise<StockOutcome>): Promise<StockOutcome> {
    const { waitTimeoutMs, signal } = request;
    const call = { resource: keyOf(request), waitTimeoutMs, ttlMs: TTL_MS, ...(signal ? { signal } : {}) };
    const outcome = await this.lock.runGuarded(call, work);
    return outcome.status === "completed" ? outcome.value : outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lock[Symbol.asyncDispose]();
  }
}

/** Hashed, because a buyer's id may contain characters that a key must not. */
export function keyOf({ target, buyerId }: Pick<StockRequest, "target" | "buyerId">): string {
  return `claim:${resourceOf(target)}:${createHash("sha256").update(buyerId).digest("hex")}`;
}
