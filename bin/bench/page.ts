import type { MedianInterval } from "../../lib/runs/median-interval";
import type { BenchResult } from "./recorder";

/** docs/benchmarks.md: what `npm run bench` measured. */

/** Recording may cost this much of the throughput; more is a fault of the recorder. */
export const LIMIT_PERCENT = 5;

export interface BenchContext {
  readonly results: readonly BenchResult[];
  readonly commit: string;
  readonly machine: string;
  readonly command: string;
  readonly pairs: number;
  readonly blockMs: number;
  readonly buyers: number;
  /** The machine's load average over the minute before. */
  readonly loadBefore: number;
  /** Nanoseconds that keeping one operation takes, and clearing it away. */
  readonly recordNs: MedianInterval | null;
}

export type Settled = "below" | "above" | "open";

/** Whether the cost is below the limit, above it, or lost in the noise of a busy machine: by the interval, not by its middle. */
export function settledBy({ cost }: Pick<BenchResult, "cost">): Settled {
  const interval = cost.throughputPercent;
  if (interval === null) return "open";
  if (interval.high < LIMIT_PERCENT) return "below";
  return interval.low >= LIMIT_PERCENT ? "above" : "open";
}

export function benchPage({
  results,
  commit,
  machine,
  command,
  pairs,
  blockMs,
  buyers,
  loadBefore,
  recordNs,
}: BenchContext): string {
  return [
    "# Benchmarks",
    "",
    `Written by \`${command}\`; do not edit by hand. Commit ${commit}, ${machine}; load average ${loadBefore.toFixed(2)} in the`,
    "minute before.",
    "",
    "## What the recorder costs",
    "",
    `One store node over HTTP, hold 0, ${buyers} buyers that buy one after the other. ${pairs} pairs of blocks of ${blockMs / 1_000} s, with`,
    "and without room in the recorder, in turns (on off, off on, ...); cost is worked out pair by pair.",
    "",
    "| what | recorder on, purchases/s | off | cost in throughput | added processor time a purchase |",
    "|---|---|---|---|---|",
    ...results.map(
      ({ bench, cost }) =>
        `| ${bench.name} | ${rate(cost.on)} | ${rate(cost.off)} | ${percent(cost.throughputPercent)} | ${percent(cost.cpuPercent)} |`,
    ),
    "",
    "A cell is the median of the pairs and, in brackets, the interval that holds the true median at 95 %, by order statistics.",
    "An interval that spans 0 means that no cost can be told from noise. Off still stamps the times of each purchase, since the",
    "live figures need them; what differs is keeping the operation for the history, and clearing it away later.",
    "",
    ...results.map((result) => `- ${result.bench.name}: ${VERDICTS[settledBy(result)]}`),
    "",
    ...(recordNs === null
      ? []
      : [
          `Keeping one operation, timed alone and with its clearing away, takes ${recordNs.median.toFixed(0)} ns (${recordNs.low.toFixed(0)} to ${recordNs.high.toFixed(0)}):`,
          ...results.map(
            ({ bench, cpuUsEach }) =>
              `${((100 * recordNs.median) / 1_000 / cpuUsEach).toFixed(2)} % of the ${cpuUsEach.toFixed(0)} µs of processor time that the node spends on a purchase (${bench.name}).  `,
          ),
        ]),
    "",
  ].join("\n");
}

const VERDICTS: Record<Settled, string> = {
  below: `below the limit of ${LIMIT_PERCENT} %.`,
  above: `FAILED: above the limit of ${LIMIT_PERCENT} %.`,
  open: `not settled: the interval holds ${LIMIT_PERCENT} %, so this machine was too busy to tell.`,
};

function rate(value: MedianInterval | null): string {
  if (value === null) return "-";
  const whole = (number: number) => Math.round(number).toLocaleString("en");
  return `${whole(value.median)} (${whole(value.low)} to ${whole(value.high)})`;
}

function percent(value: MedianInterval | null): string {
  if (value === null) return "-";
  return `${value.median.toFixed(1)} % (${value.low.toFixed(1)} to ${value.high.toFixed(1)})`;
}
