/** Tokens a buyer has: one a purchase, refilled steadily up to the burst. */
interface Bucket {
  tokens: number;
  atMs: number;
}

export interface BuyerLimitOptions {
  readonly ratePerSecond: number;
  /** Purchases a buyer may send at once. */
  readonly burst: number;
  /** Buyers remembered; the one not seen for longest is forgotten first, and starts afresh. */
  readonly maxBuyers: number;
}

/**
 * A token bucket a buyer. A bucket untouched for `burst / ratePerSecond` seconds is full and forgetting it changes
 * nothing, so only more than `maxBuyers` different buyers within that time can wash one out.
 */
export class BuyerLimits {
  /** In the order in which buyers were last seen. */
  readonly #buckets = new Map<string, Bucket>();
  readonly #options: BuyerLimitOptions;

  constructor(options: BuyerLimitOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token. @returns 0 when there was one, else after how many milliseconds there will be */
  take(buyerId: string, nowMs: number): number {
    const { ratePerSecond, burst } = this.#options;
    const bucket = this.#touch(buyerId, nowMs);
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) * ratePerSecond) / 1_000);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * 1_000) / ratePerSecond);
    bucket.tokens -= 1;
    return 0;
  }

  #touch(buyerId: string, nowMs: number): Bucket {
    const known = this.#buckets.get(buyerId);
    if (known) this.#buckets.delete(buyerId);
    else if (this.#buckets.size >= this.#options.maxBuyers) this.#forgetOldest();
    const bucket = known ?? { tokens: this.#options.burst, atMs: nowMs };
    this.#buckets.set(buyerId, bucket);
    return bucket;
  }

  #forgetOldest(): void {
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      return;
    }
  }
}
