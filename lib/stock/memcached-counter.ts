import { LockError } from "../locks/errors";
import { isMemcachedError, type MemcachedCommands, type MemcachedVersion } from "../locks/memcached/memcached-port";
import { resourceOf, type StockTarget } from "./types";

/** What was read, to be written back if nobody else has written meanwhile. */
export interface CounterReading {
  readonly stock: number;
  readonly version: MemcachedVersion;
}

/** Where a target's stock is counted in Memcached. */
export function counterKey(target: StockTarget): string {
  return `stock:${resourceOf(target)}`;
}

/**
 * A target's stock as a decimal number under `stock:<resource>` in Memcached. Failures come out as LockErrors; none of
 * these commands writes an order, so to a buyer they are all definite.
 */
export class MemcachedCounter {
  private readonly key: string;
  private readonly resource: string;

  constructor(
    private readonly client: MemcachedCommands,
    private readonly strategyId: string,
    readonly target: StockTarget,
  ) {
    this.resource = resourceOf(target);
    this.key = counterKey(target);
  }

  /** @returns null when there is no counter */
  async read(): Promise<CounterReading | null> {
    const version = await this.withTypedErrors(this.client.gets(this.key), "the stock could not be read");
    if (version === null) return null;
    if (/^\d+\s*$/.test(version.value)) return { stock: Number(version.value), version };
    throw this.failure("config_invalid", `what is under ${this.key} is no number`);
  }

  /** Writes another number over the one that was read, if nobody has written meanwhile. */
  async replace(
    reading: CounterReading,
    written: { readonly stock: number; readonly expirySeconds: number },
  ): Promise<"replaced" | "changed" | "gone"> {
    const { stock, expirySeconds } = written;
    const item = { key: this.key, value: String(stock), expirySeconds };
    const problem = `the counter may have gone from ${reading.stock} to ${stock}, without an order`;
    const outcome = await this.withTypedErrors(this.client.cas(item, reading.version), problem);
    return outcome === "stored" ? "replaced" : outcome;
  }

  /** Puts units back whose order was refused, in one step. Where the counter has vanished, they have with it. */
  async giveBack(quantity: number): Promise<void> {
    const problem = `${quantity} taken off the counter could not be given back`;
    await this.withTypedErrors(this.client.increment(this.key, quantity), problem);
  }

  /** Makes the counter where there is none. */
  async seed(stock: number, expirySeconds: number): Promise<void> {
    await this.withTypedErrors(
      this.client.add({ key: this.key, value: String(stock), expirySeconds }),
      "no counter was made",
    );
  }

  /** Makes the counter, whatever there is. */
  async reset(stock: number, expirySeconds: number): Promise<void> {
    await this.withTypedErrors(
      this.client.set({ key: this.key, value: String(stock), expirySeconds }),
      "no counter was made",
    );
  }

  lostError(): LockError {
    const problem =
      "the stock itself has vanished from Memcached (flushed, restarted or evicted); this run cannot sell on";
    return this.failure("backend_unavailable", problem);
  }

  /** @throws {LockError} where the command fails with Memcached's own error */
  async withTypedErrors<T>(command: Promise<T>, problem: string): Promise<T> {
    try {
      return await command;
    } catch (error) {
      if (!isMemcachedError(error)) throw error;
      const code = error.kind === "refused" ? "config_invalid" : "backend_unavailable";
      throw this.failure(code, `Memcached: ${error.message}; ${problem}`, error);
    }
  }

  private failure(code: "backend_unavailable" | "config_invalid", message: string, cause?: unknown): LockError {
    const { strategyId, resource } = this;
    return new LockError({ code, strategyId, resource, message, isDefinite: true, cause });
  }
}
