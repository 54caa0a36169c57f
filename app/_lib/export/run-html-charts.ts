import { formatMsCell, NO_VALUE } from "../format";
import {
  type Columns,
  latencyColumns,
  PHASE_LABELS,
  phaseColumns,
  rateColumns,
  STACK_ORDER,
  stacked,
  stockColumns,
} from "../series";
import { type Markup, markup } from "./markup";
import type { ExportedRun } from "./run-html";
import { barChart, curveChart, type Line, lineChart } from "./svg-charts";

/** The charts of an exported run, each with its numbers folded under it. */

const LINES = {
  stock: [
    { label: "orders", style: "accent" },
    { label: "stock left", style: "dashed" },
  ],
  rates: [
    { label: "sold per second", style: "accent" },
    { label: "answered per second", style: "wait-line" },
  ],
  latency: [
    { label: "p50, ms", style: "accent" },
    { label: "p99, ms", style: "dashed" },
  ],
} as const satisfies Record<string, readonly Line[]>;

const PHASE_LINES: readonly Line[] = STACK_ORDER.map((phase) => ({
  label: PHASE_LABELS[phase],
  style: `phase ${phase}`,
}));

export function charts({ document, samples, curve, curveOf }: ExportedRun): Markup[] {
  const stock = stockColumns(document.stock.initial, samples);
  const phases = phaseColumns(samples);
  const rates = rateColumns(samples);
  const latency = latencyColumns(samples);
  const count = `${samples.length} samples`;
  const bars = { tops: stacked(phases.ys), lines: PHASE_LINES };
  return [
    chart({
      title: "Stock left and orders taken",
      lines: LINES.stock,
      drawing: lineChart(stock, LINES.stock, `Orders and stock left over ${count}.`),
      numbers: overTime(stock, LINES.stock),
    }),
    chart({
      title: "Where the time goes, median ms",
      lines: PHASE_LINES,
      drawing: barChart(phases, bars, `Median of each phase over ${count}.`),
      numbers: overTime(phases, PHASE_LINES),
    }),
    chart({
      title: "Throughput",
      lines: LINES.rates,
      drawing: lineChart(rates, LINES.rates, `Purchases per second over ${count}.`),
      numbers: overTime(rates, LINES.rates),
    }),
    chart({
      title: "Latency inside the nodes, run so far",
      lines: LINES.latency,
      drawing: lineChart(latency, LINES.latency, `Median and 99th percentile over ${count}.`),
      numbers: overTime(latency, LINES.latency),
    }),
    chart({
      title: `Latency by percentile, ${curveOf === "nodes" ? "inside the nodes" : "as the buyers saw it"}, ms`,
      lines: [],
      drawing: curveChart(curve, "Latency by percentile."),
      numbers: table(
        ["share", "ms"],
        curve.map(({ share, ms }) => [`${(share * 100).toFixed(3)} %`, formatMsCell(ms)]),
      ),
    }),
  ];
}

interface Chart {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly drawing: Markup;
  readonly numbers: Markup;
}

function chart({ title, lines, drawing, numbers }: Chart): Markup {
  const keys = lines.map(
    ({ label, style }) =>
      markup`<li><svg viewBox="0 0 22 8" aria-hidden="true">${style.startsWith("phase") ? markup`<rect class="${style}" width="22" height="8"/>` : markup`<path class="line ${style}" d="M0 4H22"/>`}</svg> ${label}</li>`,
  );
  return markup`<figure><figcaption><h2>${title}</h2></figcaption><ul class="keys">${keys}</ul>${drawing}<details><summary>${title}: the numbers</summary>${numbers}</details></figure>`;
}

function overTime(columns: Columns, lines: readonly Line[]): Markup {
  const rows = columns.x.map((seconds, at) => [
    seconds.toFixed(2),
    ...lines.map((_, index) => {
      const value = columns.ys[index]?.[at] ?? null;
      return value === null ? NO_VALUE : String(Math.round(value * 1_000) / 1_000);
    }),
  ]);
  return table(["seconds", ...lines.map(({ label }) => label)], rows);
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): Markup {
  const body = rows.map(
    ([first = "", ...cells]) =>
      markup`<tr><th scope="row">${first}</th>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>`,
  );
  return markup`<div class="scroll" tabindex="0"><table><thead><tr>${heads.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead><tbody>${body}</tbody></table></div>`;
}
