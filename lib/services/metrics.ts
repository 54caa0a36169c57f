import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { DurationHistogram } from "./duration-histogram";
import { processSingleton } from "./singleton";

/**
 * The metrics of this process for Prometheus (`GET /metrics`). Names follow its conventions: base units, `_total` for
 * counters. No label holds a buyer, a product, a run or a raw path, because their number is unbounded.
 */
export interface Metrics {
  readonly registry: Registry;
  readonly purchases: CountsByLabels;
  readonly purchaseSeconds: DurationHistogram;
  readonly phaseSeconds: DurationHistogram;
  readonly requestSeconds: DurationHistogram;
  readonly leasesLost: CountsByLabels;
  readonly refusals: CountsByLabels;
  readonly watchEvents: CountsByLabels;
}

/** Counters that cost one addition per event; prom-client reads them at a scrape. */
export class CountsByLabels {
  readonly #counts = new Map<string, number>();

  constructor(options: {
    readonly name: string;
    readonly help: string;
    readonly labelNames: readonly string[];
    readonly registry: Registry;
  }) {
    const { name, help, labelNames, registry } = options;
    const counts = this.#counts;
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        this.reset();
        for (const [key, count] of counts) {
          const parts = key.split("|");
          this.inc(Object.fromEntries(labelNames.map((label, index) => [label, parts[index] ?? ""])), count);
        }
      },
    });
  }

  /** @param key the label values in order, joined by `|` */
  add(key: string, count = 1): void {
    this.#counts.set(key, this.get(key) + count);
  }

  get(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

export function metrics(): Metrics {
  return processSingleton("metrics", createMetrics);
}

/** A gauge whose value is read at each scrape. */
export function gauge(options: { readonly name: string; readonly help: string; readonly read: () => number }): void {
  const { name, help, read } = options;
  new Gauge({
    name,
    help,
    registers: [metrics().registry],
    collect() {
      this.set(read());
    },
  });
}

function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counts = (name: string, help: string, labelNames: readonly string[]) =>
    new CountsByLabels({ name, help, labelNames, registry });
  const durations = (name: string, help: string, labelNames: readonly string[]) =>
    new DurationHistogram({ name, help, labelNames, registry });
  return {
    registry,
    purchases: counts("flash_sale_purchases_total", "Purchases by strategy and outcome.", ["strategy", "outcome"]),
    purchaseSeconds: durations(
      "flash_sale_purchase_duration_seconds",
      "Duration of a purchase on the node, from start to response.",
      ["strategy"],
    ),
    phaseSeconds: durations(
      "flash_sale_purchase_phase_duration_seconds",
      "Phases of a purchase: pool_wait for a connection, wait for the lock, hold of the lock, commit.",
      ["strategy", "phase"],
    ),
    requestSeconds: durations(
      "http_request_duration_seconds",
      "Duration of HTTP requests by route, method and status.",
      ["route", "method", "status"],
    ),
    leasesLost: counts(
      "flash_sale_leases_lost_total",
      "Leases that were detected as lost before the holder released the lock.",
      ["strategy"],
    ),
    refusals: counts(
      "flash_sale_refused_total",
      "Purchases, payments and cancellations rejected before any lock: rate_limited, overloaded.",
      ["reason"],
    ),
    watchEvents: counts("flash_sale_zookeeper_watch_events_total", "ZooKeeper watches that fired for a waiter.", [
      "strategy",
    ]),
  };
}
