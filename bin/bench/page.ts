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
}

/** Cases whose median cost is above the limit. */
export function tooDear(results: readonly BenchResult[]): BenchResult[] {
  return results.filter(({ cost }) => (cost.throughputPercent?.median ?? Number.POSITIVE_INFINITY) >= LIMIT_PERCENT);
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
}: BenchContext): string {
  const dear = tooDear(results);
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
    dear.length === 0
      ? `Below the limit of ${LIMIT_PERCENT} % in every case.`
      : `FAILED: ${LIMIT_PERCENT} % or more in ${dear.map(({ bench }) => bench.name).join("; ")}.`,
    "",
  ].join("\n");
}

function rate(value: MedianInterval | null): string {
  if (value === null) return "-";
  const whole = (number: number) => Math.round(number).toLocaleString("en");
  return `${whole(value.median)} (${whole(value.low)} to ${whole(value.high)})`;
}

function percent(value: MedianInterval | null): string {
  if (value === null) return "-";
  return `${value.median.toFixed(1)} % (${value.low.toFixed(1)} to ${value.high.toFixed(1)})`;
}
