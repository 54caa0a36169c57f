import { LockError } from "../locks/errors";
import { isMemcachedError, type MemcachedCommands, type MemcachedVersion } from "../locks/memcached/memcached-port";
import { resourceOf, type StockTarget } from "./types";

/** A value and its version. The version must be unchanged when a new value is written. */
export interface CounterReading {
  readonly stock: number;
  readonly version: MemcachedVersion;
}

/** The Memcached key of a target's counter. */
export function counterKey(target: StockTarget): string {
  return `stock:${resourceOf(target)}`;
}

/**
 * The stock of a target as a decimal number under `stock:<resource>` in Memcached. Failures become LockErrors. All are definite,
 * because none of these commands writes an order.
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
    const version = await this.withTypedErrors(
      this.client.gets(this.key),
      "the stock could not be read, and nothing was taken",
    );
    if (version === null) return null;
    if (/^\d+\s*$/.test(version.value)) return { stock: Number(version.value), version };
    throw this.failure("config_invalid", `the value of the Memcached key ${this.key} is not a number; delete the key`);
  }

  /** Writes a new value if the counter has not changed since `reading`. */
  async replace(
    reading: CounterReading,
    written: { readonly stock: number; readonly expirySeconds: number },
  ): Promise<"replaced" | "changed" | "gone"> {
    const { stock, expirySeconds } = written;
    const item = { key: this.key, value: String(stock), expirySeconds };
    const problem = `the counter may have changed from ${reading.stock} to ${stock} without an order; reconcile repairs it`;
    const outcome = await this.change(this.client.cas(item, reading.version), problem);
    return outcome === "stored" ? "replaced" : outcome;
  }

  /** Adds the units of a rejected order in one step. Does nothing if the counter does not exist. */
  async giveBack(quantity: number): Promise<void> {
    const problem = `${quantity} units could not be returned to the counter; reconcile repairs it`;
    await this.change(this.client.increment(this.key, quantity), problem);
  }

  /** Creates the counter if it does not exist. */
  async seed(stock: number, expirySeconds: number): Promise<void> {
    await this.withTypedErrors(
      this.client.add({ key: this.key, value: String(stock), expirySeconds }),
      "the counter was not created",
    );
  }

  /** Creates or overwrites the counter. */
  async reset(stock: number, expirySeconds: number): Promise<void> {
    await this.withTypedErrors(
      this.client.set({ key: this.key, value: String(stock), expirySeconds }),
      "the counter was not created",
    );
  }

  lostError(): LockError {
    const problem =
      "the counter has vanished from Memcached (flushed, restarted or evicted), so this run cannot continue; start a new run";
    return this.failure("backend_unavailable", problem);
  }

  /** @throws {LockError} when the command fails with a MemcachedError */
  async withTypedErrors<T>(command: Promise<T>, problem: string): Promise<T> {
    return command.catch((error: unknown) => {
      throw this.typed(error, problem, false);
    });
  }

  /** The same for a command that changes the counter. Without a reply, the change may have happened or may still happen. */
  private async change<T>(command: Promise<T>, problem: string): Promise<T> {
    return command.catch((error: unknown) => {
      throw this.typed(error, problem, isMemcachedError(error) && error.kind === "unreachable");
    });
  }

  private typed(error: unknown, problem: string, mayBeInFlight: boolean): unknown {
    if (!isMemcachedError(error)) return error;
    const code = error.kind === "refused" ? "config_invalid" : "backend_unavailable";
    return this.failure(code, `Memcached: ${error.message}; ${problem}`, { mayBeInFlight, cause: error });
  }

  private failure(
    code: "backend_unavailable" | "config_invalid",
    message: string,
    details: { readonly mayBeInFlight?: boolean; readonly cause?: unknown } = {},
  ): LockError {
    const { strategyId, resource } = this;
    return new LockError({ code, strategyId, resource, message, isDefinite: true, ...details });
  }
}
