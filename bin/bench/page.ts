import type { MedianInterval } from "../../lib/runs/median-interval";
import type { BenchResult } from "./recorder";

/** docs/benchmarks.md: the results of `npm run bench`. */

/** The highest acceptable cost of recording, in percent of throughput. */
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
  /** Nanoseconds to keep one operation and to collect it later. */
  readonly recordNs: MedianInterval | null;
}

export type Settled = "below" | "above" | "open";

/** Whether the cost is below the limit, above it, or hidden by noise. Decided by the interval, not by the median. */
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
    `One store node over HTTP, hold 0, ${buyers} buyers who send one purchase after the other. ${pairs} pairs of blocks of ${blockMs / 1_000} s, with`,
    "and without room in the recorder, alternating (on off, off on, ...). The cost is computed per pair.",
    "",
    "| case | recorder on, purchases/s | off | cost in throughput | added CPU time per purchase |",
    "|---|---|---|---|---|",
    ...results.map(
      ({ bench, cost }) =>
        `| ${bench.name} | ${rate(cost.on)} | ${rate(cost.off)} | ${percent(cost.throughputPercent)} | ${percent(cost.cpuPercent)} |`,
    ),
    "",
    "A cell holds the median of the pairs and, in brackets, the 95 % confidence interval of the median, by order statistics.",
    "If an interval contains 0, noise hides the cost. With the recorder off, the node still takes the times of each purchase for",
    "the live figures; the difference is keeping the operation for the history, and collecting it later.",
    "",
    ...results.map((result) => `- ${result.bench.name}: ${VERDICTS[settledBy(result)]}`),
    "",
    ...(recordNs === null
      ? []
      : [
          `Keeping one operation, writing it to the spool and collecting its garbage takes ${recordNs.median.toFixed(0)} ns of CPU time (${recordNs.low.toFixed(0)} to ${recordNs.high.toFixed(0)}):`,
          ...results.map(
            ({ bench, cpuUsEach }) =>
              `${((100 * recordNs.median) / 1_000 / cpuUsEach).toFixed(2)} % of the ${cpuUsEach.toFixed(0)} µs of CPU time that the node spends on a purchase (${bench.name}).  `,
          ),
        ]),
    "",
  ].join("\n");
}

const VERDICTS: Record<Settled, string> = {
  below: `below the limit of ${LIMIT_PERCENT} %.`,
  above: `FAILED: above the limit of ${LIMIT_PERCENT} %.`,
  open: `inconclusive: the interval contains ${LIMIT_PERCENT} %, so the noise of this machine hides the result.`,
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
