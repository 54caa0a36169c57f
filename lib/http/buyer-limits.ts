/** A purchase takes one token. Tokens refill at a constant rate up to the burst. */
interface Bucket {
  tokens: number;
  atMs: number;
}

export interface BuyerLimitOptions {
  readonly ratePerSecond: number;
  /** Purchases that a buyer may send at once. */
  readonly burst: number;
  /** Number of buckets kept. The least recently used one is dropped first, and its buyer then gets a full bucket. */
  readonly maxBuyers: number;
}

/**
 * One token bucket per buyer. A bucket that was not used for `burst / ratePerSecond` seconds is full, so dropping it changes
 * nothing. Only more than `maxBuyers` different buyers within that time can reset a bucket early.
 */
export class BuyerLimits {
  /** Least recently used first. */
  readonly #buckets = new Map<string, Bucket>();
  readonly #options: BuyerLimitOptions;

  constructor(options: BuyerLimitOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token. @returns 0 if there was one, else the milliseconds until there is one */
  take(buyerId: string, nowMs: number): number {
    const { ratePerSecond, burst } = this.#options;
    const bucket = this.#touch(buyerId, nowMs);
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) * ratePerSecond) / 1_000);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * 1_000) / ratePerSecond);
    bucket.tokens -= 1;
    return 0;
  }

  /** Returns a token that was taken. */
  giveBack(buyerId: string): void {
    const bucket = this.#buckets.get(buyerId);
    if (bucket) bucket.tokens = Math.min(this.#options.burst, bucket.tokens + 1);
  }

  #touch(buyerId: string, nowMs: number): Bucket {
    const known = this.#buckets.get(buyerId);
    if (known) this.#buckets.delete(buyerId);
    else if (this.#buckets.size >= this.#options.maxBuyers) this.#dropOldest();
    const bucket = known ?? { tokens: this.#options.burst, atMs: nowMs };
    this.#buckets.set(buyerId, bucket);
    return bucket;
  }

  #dropOldest(): void {
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      return;
    }
  }
}
