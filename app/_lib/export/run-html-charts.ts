import { ANSWER_KINDS, ANSWER_LABELS } from "../answer-kinds";
import { formatCount, formatMsCell, formatShare, NO_VALUE } from "../format";
import type { LatencyCurve } from "../latency-curves";
import { type Columns, PHASE_LABELS, type RunSeries, STACK_ORDER, stacked } from "../run-series";
import { type TimeAxis, timeCell } from "../time-axis";
import { type Markup, markup } from "./markup";
import type { ExportedRun } from "./run-html";
import { barChart, curveChart, type Line, lineChart } from "./svg-charts";
import { type HolderView, holderTimeline } from "./svg-timeline";

/** The charts of an exported run, each with a collapsed table of its values. */

const LINES = {
  stock: [
    { label: "orders", style: "accent" },
    { label: "stock left", style: "dashed" },
  ],
  latency: [
    { label: "p50, ms", style: "accent" },
    { label: "p95, ms", style: "wait-line" },
    { label: "p99, ms", style: "dashed" },
  ],
  inside: [
    { label: "in flight", style: "accent" },
    { label: "waiting", style: "wait-line" },
  ],
} as const satisfies Record<string, readonly Line[]>;

const PHASE_LINES: readonly Line[] = STACK_ORDER.map((phase) => ({
  label: PHASE_LABELS[phase],
  style: `phase ${phase}`,
}));

const ANSWER_LINES: readonly Line[] = ANSWER_KINDS.map((kind) => ({
  label: ANSWER_LABELS[kind],
  style: `phase ${kind}`,
}));

export function charts({ document, series, curves }: ExportedRun): Markup[] {
  const { phases, answers, source, latencySpan } = series;
  const { initial } = document.stock;
  return [
    lines(series, {
      title: "Stock left and orders taken",
      of: "stock",
      summary: `Orders and stock left, ${source}.`,
      limit: { value: initial, label: `stock ${formatCount(initial)}` },
    }),
    chart({
      title: "Where the time goes, median ms",
      lines: PHASE_LINES,
      drawing: barChart(
        { columns: phases, tops: stacked(phases.ys), lines: PHASE_LINES },
        { ...series, summary: `Median of each phase, ${source}.` },
      ),
      valueTable: overTime(series.axis, phases, PHASE_LINES),
    }),
    chart({
      title: "Answers per second",
      lines: ANSWER_LINES,
      drawing: barChart(
        { columns: answers, tops: stacked(answers.ys), lines: ANSWER_LINES },
        { ...series, summary: `Answers per second by kind, ${source}.` },
      ),
      valueTable: overTime(series.axis, answers, ANSWER_LINES),
    }),
    lines(series, {
      title: `Latency inside the nodes, ${latencySpan}`,
      of: "latency",
      summary: `Median, 95th and 99th percentile, ${source}.`,
    }),
    lines(series, {
      title: `In flight and waiting, ${series.inFlightUnit}`,
      of: "inside",
      summary: `Purchases in flight, and those of them that wait, ${source}.`,
    }),
    byPercentile(curves),
  ];
}

function byPercentile(curves: readonly LatencyCurve[]): Markup {
  const keys = curves.map(({ label }, at): Line => ({ label, style: at === 0 ? "accent" : "dashed" }));
  const points = curves.map((curve) => curve.points);
  return chart({
    title: "Latency by percentile, ms",
    lines: keys,
    drawing: curveChart({ curves: points, lines: keys }, "Latency by percentile."),
    valueTable: table(
      ["measured", "share", "ms"],
      curves.flatMap(({ label, points }) =>
        points.map(({ share, ms }) => [label, formatShare(share), formatMsCell(ms)]),
      ),
    ),
  });
}

interface Lines {
  readonly title: string;
  readonly of: keyof typeof LINES;
  readonly summary: string;
  readonly limit?: { readonly value: number; readonly label: string };
}

function lines(series: RunSeries, { title, of, summary, limit }: Lines): Markup {
  const columns = series[of];
  return chart({
    title,
    lines: LINES[of],
    drawing: lineChart({ columns, lines: LINES[of], limit }, { ...series, summary }),
    valueTable: overTime(series.axis, columns, LINES[of]),
  });
}

/** Critical sections around the first violation, or around the first purchases if there is none. */
export function holders(view: HolderView): Markup {
  const { drawing, caption, rows } = holderTimeline(view);
  const title = "Critical sections by node";
  const keys: [style: string, label: string][] = [
    ["inside", view.timeline.hasHolds ? "grant to release" : "read to commit"],
    ...(view.alarmed.length > 0 ? [["wrong", "overlap, stale write or lost update"] as [string, string]] : []),
    ["selected", "in the interleaving"],
    ...(view.alarmed.length > 0 ? [["selected alarm", "caused the violation"] as [string, string]] : []),
  ];
  return markup`<figure class="wide"><figcaption><h2>${title}</h2><p class="muted">${caption}</p></figcaption><ul class="keys">${keys.map(([style, label]) => markup`<li>${swatch(style)} ${label}</li>`)}</ul><div class="scroll wide" tabindex="0">${drawing}</div><details><summary>${title}: values</summary>${table(["node", "from, ms", "duration, ms", "read", "wrote", "violation"], rows)}</details></figure>`;
}

function swatch(style: string): Markup {
  return markup`<svg viewBox="0 0 22 8" aria-hidden="true"><rect class="${style}" width="22" height="8"/></svg>`;
}

interface Chart {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly drawing: Markup;
  readonly valueTable: Markup;
}

function chart({ title, lines, drawing, valueTable }: Chart): Markup {
  const keys = lines.map(
    ({ label, style }) =>
      markup`<li>${style.startsWith("phase") ? swatch(style) : markup`<svg viewBox="0 0 22 8" aria-hidden="true"><path class="line ${style}" d="M0 4H22"/></svg>`} ${label}</li>`,
  );
  return markup`<figure><figcaption><h2>${title}</h2></figcaption><ul class="keys">${keys}</ul>${drawing}<details><summary>${title}: values</summary>${valueTable}</details></figure>`;
}

/** Limit of table rows, above the number of steps of a history. The CSV file has every sample. */
const MAX_ROWS = 200;

function overTime(axis: TimeAxis, columns: Columns, shown: readonly Line[]): Markup {
  const rows = columns.x.slice(0, MAX_ROWS).map((seconds, at) => [
    timeCell(axis, seconds),
    ...shown.map((_, index) => {
      const value = columns.ys[index]?.[at] ?? null;
      return value === null ? NO_VALUE : String(Math.round(value * 1_000) / 1_000);
    }),
  ]);
  return table([axis.unit === "ms" ? "milliseconds" : "seconds", ...shown.map(({ label }) => label)], rows);
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): Markup {
  const body = rows.map(
    ([first = "", ...cells]) =>
      markup`<tr><th scope="row">${first}</th>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>`,
  );
  return markup`<div class="scroll" tabindex="0"><table><thead><tr>${heads.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead><tbody>${body}</tbody></table></div>`;
}
