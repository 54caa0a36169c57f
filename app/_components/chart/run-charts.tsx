"use client";

import { type ReactNode, useMemo } from "react";
import { ANSWER_KINDS, ANSWER_LABELS, ANSWER_MEANINGS, type AnswerKind } from "@/app/_lib/answer-kinds";
import { formatCount, formatMsCell, formatRate } from "@/app/_lib/format";
import {
  type Columns,
  PHASE_LABELS,
  PHASE_MEANINGS,
  type RunSeries,
  STACK_ORDER,
  stacked,
} from "@/app/_lib/run-series";
import { timeText } from "@/app/_lib/time-axis";
import styles from "./chart-grid.module.css";
import type { PaletteName } from "./colours";
import { lineOptions, stackOptions, stockOptions } from "./options";
import { type ChartKey, TimeChart } from "./time-chart";

/** The charts of a run over time, on a common time axis. */

interface ChartProps {
  readonly series: RunSeries;
  readonly height?: number;
}

const STOCK_KEYS: readonly ChartKey[] = [
  { label: "orders", colour: "accent", mark: "line", format: formatCount },
  { label: "stock left", colour: "ink", mark: "dashed", format: formatCount },
];

const BEYOND_KEY: ChartKey = { label: "beyond stock", colour: "alarm", mark: "hatched", format: formatCount };

function stockSummary({ stock, axis, source, blank }: RunSeries, initial: number): string {
  const [orders, left] = stock.ys.map((column) => column.at(-1) ?? null);
  if (stock.x.length === 0) return `${blank}.`;
  return `Within ${timeText(axis, axis.endS)} orders rose to ${formatCount(orders)}, and the stock went from ${formatCount(initial)} to ${formatCount(left)}; ${source}.`;
}

export function StockChart({ initial, series, ...size }: ChartProps & { initial: number }) {
  const columns = series.stock;
  const build = useMemo(() => stockOptions(initial), [initial]);
  const isBeyond = columns.ys[2]?.some((units) => units !== null && units > 0) ?? false;
  const drawn = useMemo(() => columns.ys.slice(0, 2), [columns]);
  return (
    <TimeChart
      title="Stock left and orders taken"
      unit={`units, line at stock ${formatCount(initial)}`}
      keys={isBeyond ? [...STOCK_KEYS, BEYOND_KEY] : STOCK_KEYS}
      columns={columns}
      drawn={drawn}
      build={build}
      series={series}
      summary={stockSummary(series, initial)}
      {...size}
    />
  );
}

interface Stack {
  readonly title: string;
  readonly unit: string;
  readonly keys: readonly (ChartKey & { readonly colour: PaletteName })[];
  readonly summary: string;
}

interface StackChartProps extends ChartProps {
  readonly stack: Stack;
  readonly columns: Columns;
}

/** A chart of stacked bars: each bar is the sum of its parts. */
function StackChart({ stack: { summary, ...stack }, columns, series, ...size }: StackChartProps) {
  const { keys } = stack;
  const build = useMemo(() => stackOptions(keys), [keys]);
  const drawn = useMemo(() => stacked(columns.ys), [columns]);
  const props = { ...stack, columns, drawn, build, series, ...size };
  return <TimeChart {...props} summary={`${summary}; ${series.source}.`} />;
}

const PHASE_COLOURS = {
  hold: "phase-hold",
  commit: "phase-commit",
  wait: "phase-wait",
  poolWait: "phase-pool",
} as const;

const PHASES: Stack = {
  title: "Where the time goes",
  unit: "median ms",
  keys: STACK_ORDER.map((phase) => ({
    label: PHASE_LABELS[phase],
    heading: `${PHASE_LABELS[phase]}, ms`,
    hint: PHASE_MEANINGS[phase],
    colour: PHASE_COLOURS[phase],
    mark: "block",
    format: formatMsCell,
  })),
  summary: "Median time of the answered purchases in each phase, by interval",
};

export function PhaseChart(props: ChartProps) {
  return <StackChart {...props} stack={PHASES} columns={props.series.phases} />;
}

const ANSWER_COLOURS = {
  sold: "accent",
  soldOut: "answer-sold-out",
  refused: "phase-wait",
  failed: "ink",
} as const satisfies Record<AnswerKind, PaletteName>;

const answerKey = (kind: AnswerKind) => ({
  label: ANSWER_LABELS[kind],
  hint: ANSWER_MEANINGS[kind],
  colour: ANSWER_COLOURS[kind],
  format: formatRate,
});

const ANSWERS: Stack = {
  title: "Answers",
  unit: "per second",
  keys: ANSWER_KINDS.map((kind) => ({ ...answerKey(kind), mark: "block" })),
  summary: "Answers per second by kind",
};

export function AnswerChart(props: ChartProps) {
  return <StackChart {...props} stack={ANSWERS} columns={props.series.answers} />;
}

/** Refused and failed purchases once more, with a separate scale: beside thousands of sales, a few errors would be invisible. */
const PROBLEM_KEYS: readonly ChartKey[] = [
  { ...answerKey("refused"), mark: "dashed" },
  { ...answerKey("failed"), mark: "line" },
];

const buildProblems = lineOptions(
  [
    { label: "refused", colour: "phase-wait", dash: [5, 4] },
    { label: "failed", colour: "ink" },
  ],
  2,
);

export function ProblemChart({ series, ...size }: ChartProps) {
  const { x, ys } = series.answers;
  const columns = useMemo(() => ({ x, ys: ys.slice(2) }), [x, ys]);
  return (
    <TimeChart
      title="Refused and failed"
      unit="per second"
      keys={PROBLEM_KEYS}
      columns={columns}
      build={buildProblems}
      series={series}
      summary={`Refused and failed purchases per second; ${series.source}.`}
      {...size}
    />
  );
}

const LATENCY_KEYS: readonly ChartKey[] = [
  { label: "p50", heading: "p50, ms", colour: "accent", mark: "line", format: formatMsCell },
  { label: "p95", heading: "p95, ms", colour: "phase-commit", mark: "line", format: formatMsCell },
  {
    label: "p99",
    heading: "p99, ms",
    hint: "In an interval with fewer than 100 purchases, this is the slowest one",
    colour: "ink",
    mark: "dashed",
    format: formatMsCell,
  },
];

const buildLatency = lineOptions(
  [
    { label: "p50", colour: "accent" },
    { label: "p95", colour: "phase-commit" },
    { label: "p99", colour: "ink", dash: [5, 4] },
  ],
  10,
);

export function LatencyChart({ series, ...size }: ChartProps) {
  return (
    <TimeChart
      title="Node latency"
      unit={`ms, ${series.latencySpan}`}
      keys={LATENCY_KEYS}
      columns={series.latency}
      build={buildLatency}
      series={series}
      summary={`Median, 95th and 99th percentile, ${series.latencySpan}; ${series.source}.`}
      {...size}
    />
  );
}

const INSIDE_KEYS: readonly ChartKey[] = [
  { label: "in flight", colour: "accent", mark: "line", hint: "Received and not answered yet", format: formatCount },
  {
    label: "waiting",
    colour: "phase-wait",
    mark: "dashed",
    hint: "Those in flight that wait for the lock",
    format: formatCount,
  },
];

const buildInside = lineOptions(
  [
    { label: "in flight", colour: "accent" },
    { label: "waiting", colour: "phase-wait", dash: [5, 4] },
  ],
  2,
);

export function InsideChart({ series, ...size }: ChartProps) {
  return (
    <TimeChart
      title="In flight and waiting"
      unit={series.inFlightUnit}
      keys={INSIDE_KEYS}
      columns={series.inside}
      build={buildInside}
      series={series}
      summary={`Purchases in flight, and those of them that wait for the lock; ${series.source}.`}
      {...size}
    />
  );
}

interface ChartGridProps {
  readonly series: RunSeries;
  /** Up to three charts side by side. */
  readonly isDense?: boolean;
  readonly children: ReactNode;
}

/** Charts in a grid below a line that names their data source. */
export function ChartGrid({ series, isDense = false, children }: ChartGridProps) {
  return (
    <section className={styles.grid} data-dense={isDense} aria-label="Over time">
      <p className={styles.source} data-testid="source">
        Over time, {series.source}
      </p>
      {children}
    </section>
  );
}
