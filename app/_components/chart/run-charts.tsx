"use client";

import { useMemo } from "react";
import type { FaultBand } from "@/app/_lib/fault-bands";
import { formatCount, formatMsCell, formatRate } from "@/app/_lib/format";
import {
  latencyColumns,
  PHASE_LABELS,
  PHASE_MEANINGS,
  phaseColumns,
  rateColumns,
  STACK_ORDER,
  stacked,
  stockColumns,
} from "@/app/_lib/series";
import type { RunSample } from "@/lib/runs/document";
import { lineOptions, stackOptions, stockOptions } from "./options";
import { type ChartKey, TimeChart } from "./time-chart";

interface SamplesProps {
  readonly samples: readonly RunSample[];
  readonly bands?: readonly FaultBand[] | undefined;
}

const STOCK_KEYS: readonly ChartKey[] = [
  { label: "orders", colour: "accent", mark: "line", format: formatCount },
  { label: "stock left", colour: "ink", mark: "dashed", format: formatCount },
];

const BEYOND_KEY: ChartKey = { label: "beyond stock", colour: "alarm", mark: "hatched", format: formatCount };

export function StockChart({ initial, samples, bands }: SamplesProps & { initial: number }) {
  const columns = useMemo(() => stockColumns(initial, samples), [initial, samples]);
  const build = useMemo(() => stockOptions(initial), [initial]);
  const last = samples.at(-1);
  const keys = last !== undefined && last.oversold > 0 ? [...STOCK_KEYS, BEYOND_KEY] : STOCK_KEYS;
  const drawn = useMemo(() => columns.ys.slice(0, 2), [columns]);
  return (
    <TimeChart
      title="Stock left and orders taken"
      unit="units"
      keys={keys}
      columns={columns}
      bands={bands}
      drawn={drawn}
      build={build}
      summary={
        last === undefined
          ? "No samples yet."
          : `Over ${(last.atMs / 1000).toFixed(1)} s, orders rose to ${last.orders} and stock left fell from ${initial} to ${last.stockLeft}.`
      }
    />
  );
}

const PHASE_STYLE = {
  hold: { colour: "phase-hold", mark: "block" },
  commit: { colour: "phase-commit", mark: "block" },
  wait: { colour: "phase-wait", mark: "block" },
  poolWait: { colour: "phase-wait", mark: "hatched" },
} as const;

const PHASE_KEYS: readonly ChartKey[] = STACK_ORDER.map((phase) => ({
  label: PHASE_LABELS[phase],
  heading: `${PHASE_LABELS[phase]}, ms`,
  hint: PHASE_MEANINGS[phase],
  ...PHASE_STYLE[phase],
  format: formatMsCell,
}));

const buildPhases = stackOptions(
  STACK_ORDER.map((phase) => ({
    label: PHASE_LABELS[phase],
    colour: PHASE_STYLE[phase].colour,
    hatched: PHASE_STYLE[phase].mark === "hatched",
  })),
);

export function PhaseChart({ samples, bands }: SamplesProps) {
  const columns = useMemo(() => phaseColumns(samples), [samples]);
  const drawn = useMemo(() => stacked(columns.ys), [columns]);
  return (
    <TimeChart
      title="Where the time goes"
      unit="median ms"
      keys={PHASE_KEYS}
      columns={columns}
      bands={bands}
      drawn={drawn}
      build={buildPhases}
      summary={`Median time in each phase, interval by interval, over ${samples.length} samples.`}
    />
  );
}

const RATE_KEYS: readonly ChartKey[] = [
  { label: "sold", colour: "accent", mark: "line", format: formatRate },
  { label: "answered", colour: "phase-wait", mark: "dashed", format: formatRate },
];

const buildRates = lineOptions(
  [
    { label: "sold", colour: "accent" },
    { label: "answered", colour: "phase-wait", dash: [5, 4] },
  ],
  10,
);

export function RateChart({ samples, bands }: SamplesProps) {
  const columns = useMemo(() => rateColumns(samples), [samples]);
  return (
    <TimeChart
      title="Throughput"
      unit="per second"
      keys={RATE_KEYS}
      columns={columns}
      bands={bands}
      build={buildRates}
      summary={`Sold and answered purchases per second over ${samples.length} samples.`}
    />
  );
}

const LATENCY_KEYS: readonly ChartKey[] = [
  { label: "p50", heading: "p50, ms", colour: "accent", mark: "line", format: formatMsCell },
  { label: "p99", heading: "p99, ms", colour: "ink", mark: "dashed", format: formatMsCell },
];

const buildLatency = lineOptions(
  [
    { label: "p50", colour: "accent" },
    { label: "p99", colour: "ink", dash: [5, 4] },
  ],
  10,
);

export function LatencyChart({ samples, bands }: SamplesProps) {
  const columns = useMemo(() => latencyColumns(samples), [samples]);
  return (
    <TimeChart
      title="Latency inside the nodes, run so far"
      unit="ms"
      keys={LATENCY_KEYS}
      columns={columns}
      bands={bands}
      build={buildLatency}
      summary={`Median and 99th percentile over ${samples.length} samples.`}
    />
  );
}
