"use client";

import type { RunSeries } from "@/app/_lib/run-series";
import { AnswerChart, ChartGrid, InsideChart, LatencyChart, PhaseChart, ProblemChart, StockChart } from "./run-charts";

const HEIGHT = 150;

/** A run over time at a glance: six small charts on one time axis, for active runs and for the Lab. */
export function SixCharts({ initial, series }: { initial: number; series: RunSeries }) {
  const shared = { series, height: HEIGHT };
  return (
    <ChartGrid series={series} isDense>
      <StockChart initial={initial} {...shared} />
      <AnswerChart {...shared} />
      <LatencyChart {...shared} />
      <InsideChart {...shared} />
      <ProblemChart {...shared} />
      <PhaseChart {...shared} />
    </ChartGrid>
  );
}
