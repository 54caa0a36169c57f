import { type CurvePoint, layOutCurves, shareTicks } from "@/lib/runs/percentile-axis";
import { type FaultBand, placeBands } from "../fault-bands";
import { formatMsTick, formatTicks } from "../format";
import type { Columns, RunSeries } from "../run-series";
import { type TimeAxis, tickLabels } from "../time-axis";
import { type Markup, markup } from "./markup";

/** Charts as SVG text, for a file without scripts. Colours come from CSS classes. */

const WIDTH = 500;
const HEIGHT = 220;
const BOX = { left: 48, top: 10, width: WIDTH - 48 - 12, height: HEIGHT - 10 - 24 };
/** A centred label closer than this to the right edge would be cut off. */
const EDGE_MARGIN = 20;
/** Width of a character at the larger phone size; a static file cannot measure text. */
const CHARACTER_WIDTH = 8.1;
const NAME_ROW = 15;
const MIN_BAND = 3;

export interface Line {
  readonly label: string;
  /** CSS class with stroke, dash and fill. */
  readonly style: string;
}

/** Common input of the charts over time. */
export type OverTime = Pick<RunSeries, "axis" | "bands">;

interface Summary {
  /** Text alternative of the chart. */
  readonly summary: string;
}

/** `head`: height above the chart, at negative y coordinates. */
export function svg(
  summary: string,
  body: readonly Markup[],
  { width = WIDTH, height = HEIGHT, head = 0 } = {},
): Markup {
  return markup`<svg viewBox="0 ${-head} ${width} ${height + head}" role="img" aria-label="${summary}">${body}</svg>`;
}

interface Scales {
  readonly x: (seconds: number) => number;
  readonly y: (value: number) => number;
  readonly axes: readonly Markup[];
}

/** A step of 1, 2 or 5 times a power of ten that gives about `parts` parts. */
function stepFor(max: number, parts: number): number {
  const power = 10 ** Math.floor(Math.log10(max / parts));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= max / parts) ?? 10;
  return factor * power;
}

/** Ticks from 0 to `max`, rounded to remove floating-point error. */
function ticksTo(max: number, step: number): number[] {
  return Array.from({ length: Math.floor(max / step + 1e-9) + 1 }, (_, at) => Number((at * step).toPrecision(6)));
}

function scalesOf(drawn: Columns["ys"], axis: TimeAxis): Scales {
  const highest = Math.max(1, ...drawn.flatMap((values) => values.map((value) => value ?? 0)));
  const step = stepFor(highest, 4);
  const top = Math.ceil(highest / step) * step;
  const x = (seconds: number) => BOX.left + (seconds / axis.endS) * BOX.width;
  const y = (value: number) => BOX.top + (1 - Math.max(0, value) / top) * BOX.height;
  const ticks = ticksTo(top, step);
  const tickTexts = formatTicks(ticks);
  const rows = ticks.map(
    (
      tick,
      at,
    ) => markup`<line class="grid" x1="${BOX.left}" x2="${BOX.left + BOX.width}" y1="${y(tick)}" y2="${y(tick)}"/>
<text x="${BOX.left - 8}" y="${y(tick) + 4}" text-anchor="end">${tickTexts[at] ?? ""}</text>`,
  );
  const times = ticksTo(axis.endS, stepFor(axis.endS, 5));
  const labels = tickLabels(axis.unit, times);
  const foot = times.map((seconds, at) => {
    const isAtEdge = x(seconds) > WIDTH - CHARACTER_WIDTH * 3;
    return markup`<text x="${place(isAtEdge ? WIDTH : x(seconds))}" y="${HEIGHT - 6}" text-anchor="${isAtEdge ? "end" : "middle"}">${labels[at] ?? ""}</text>`;
  });
  return { x, y, axes: [...rows, ...foot] };
}

export function place(value: number): string {
  return value.toFixed(1);
}

interface BandArea {
  readonly left: number;
  readonly width: number;
  readonly top: number;
  readonly height: number;
  readonly xOf: (seconds: number) => number;
}

interface BandMarks {
  readonly behind: readonly Markup[];
  /** Edges over the data, names above the chart. */
  readonly above: readonly Markup[];
  /** Height of the names. */
  readonly head: number;
}

export function bandMarks(bands: readonly FaultBand[], area: BandArea): BandMarks {
  const { left, width, top, height, xOf } = area;
  const widthOf = (text: string) => text.length * CHARACTER_WIDTH;
  const placed = placeBands(bands, {
    left,
    width,
    xOf,
    widthOf,
    minWidth: MIN_BAND,
    maxRows: Number.POSITIVE_INFINITY,
  });
  const head = placed.reduce((most, { row }) => Math.max(most, row + 1), 0) * NAME_ROW;
  const foot = top + height;
  return {
    head,
    behind: placed.map(
      ({ x, width: across }) =>
        markup`<rect class="band" x="${place(x)}" y="${top}" width="${place(across)}" height="${height}"/>`,
    ),
    above: [
      ...placed.map(({ x, width: across, row }) => {
        const to = place(x + across);
        return markup`<path class="edge" d="M${place(x)} ${top - head + row * NAME_ROW}V${foot}M${to} ${top}V${foot}"/>`;
      }),
      ...placed.map(({ text, textX, textWidth, row }) => {
        const y = top - head + row * NAME_ROW;
        return markup`<rect class="plate" x="${place(textX - 2)}" y="${y}" width="${place(textWidth + 4)}" height="${NAME_ROW}"/><text class="fault" x="${place(textX)}" y="${y + 11}">${text}</text>`;
      }),
    ],
  };
}

interface Drawing {
  readonly bands: readonly FaultBand[];
  readonly scales: Scales;
  readonly drawn: readonly Markup[];
  /** Texts over the data and the edges of faults. */
  readonly labels?: readonly Markup[];
}

function overTime(summary: string, { bands, scales, drawn, labels = [] }: Drawing): Markup {
  const { behind, above, head } = bandMarks(bands, { ...BOX, xOf: scales.x });
  return svg(summary, [...behind, ...scales.axes, ...drawn, ...above, ...labels], { head });
}

/** One path per column, with a gap for a missing value and a dot for a value without neighbours. */
function pathOf(x: readonly number[], values: readonly (number | null)[], scales: Scales): string {
  let isDown = false;
  return x
    .map((seconds, index) => {
      const value = values[index] ?? null;
      if (value === null) {
        isDown = false;
        return "";
      }
      const command = isDown ? "L" : "M";
      const isAlone = !isDown && (values[index + 1] ?? null) === null;
      isDown = true;
      return `${command}${place(scales.x(seconds))} ${place(scales.y(value))}${isAlone ? "h0" : ""}`;
    })
    .join("");
}

interface Lines {
  readonly columns: Columns;
  readonly lines: readonly Line[];
  /** A horizontal line; values of the first column above it are hatched. */
  readonly limit?: { readonly value: number; readonly label: string } | undefined;
}

export function lineChart({ columns, lines, limit }: Lines, { axis, bands, summary }: OverTime & Summary): Markup {
  const shown = columns.ys.slice(0, lines.length);
  const scales = scalesOf(shown, axis);
  const drawn = shown.map(
    (values, index) =>
      markup`<path class="line ${lines[index]?.style ?? ""}" d="${pathOf(columns.x, values, scales)}"/>`,
  );
  const beyond = limit === undefined ? [] : [limitLine(columns, limit.value, scales)];
  const labels = limit === undefined ? [] : [limitLabel(limit, scales)];
  return overTime(summary, { bands, scales, drawn: [...beyond, ...drawn], labels });
}

function limitLine({ x, ys }: Columns, value: number, scales: Scales): Markup {
  const y = place(scales.y(value));
  const over = x.map((seconds, at) => {
    const reached = Math.max(value, ys[0]?.[at] ?? value);
    return `L${place(scales.x(seconds))} ${place(scales.y(reached))}`;
  });
  const end = place(scales.x(x.at(-1) ?? 0));
  return markup`<path class="beyond" d="M${BOX.left} ${y}${over.join("")}L${end} ${y}Z"/><line class="limit" x1="${BOX.left}" x2="${BOX.left + BOX.width}" y1="${y}" y2="${y}"/>`;
}

function limitLabel({ value, label }: NonNullable<Lines["limit"]>, scales: Scales): Markup {
  const x = BOX.left + 6;
  const y = scales.y(value);
  const width = label.length * CHARACTER_WIDTH;
  return markup`<rect class="plate" x="${x - 2}" y="${place(y - NAME_ROW - 1)}" width="${place(width + 4)}" height="${NAME_ROW}"/><text x="${x}" y="${place(y - 5)}">${label}</text>`;
}

interface Bars {
  readonly columns: Columns;
  /** Upper end of each part of a bar, from bottom to top. */
  readonly tops: Columns["ys"];
  readonly lines: readonly Line[];
}

export function barChart({ columns, tops, lines }: Bars, { axis, bands, summary }: OverTime & Summary): Markup {
  const scales = scalesOf(tops, axis);
  const drawn = columns.x.flatMap((seconds, at) => {
    // A bar is as wide as its interval, minus a gap if there is space for one.
    const from = scales.x(columns.x[at - 1] ?? 0);
    const across = scales.x(seconds) - from;
    const gap = Math.min(1.5, across / 5);
    return lines.map((line, level) => {
      const top = tops[level]?.[at] ?? null;
      const bottom = level === 0 ? 0 : (tops[level - 1]?.[at] ?? 0);
      if (top === null || top <= bottom) return markup``;
      return markup`<rect class="${line.style}" x="${place(from + gap / 2)}" y="${place(scales.y(top))}" width="${place(Math.max(1, across - gap))}" height="${place(scales.y(bottom) - scales.y(top))}"/>`;
    });
  });
  return overTime(summary, { bands, scales, drawn });
}

export function curveChart(
  { curves, lines }: { curves: readonly (readonly CurvePoint[])[]; lines: readonly Line[] },
  summary: string,
): Markup {
  const plot = layOutCurves(curves, BOX);
  const rows = plot.scale.ticks.map(
    (
      ms,
    ) => markup`<line class="grid" x1="${BOX.left}" x2="${BOX.left + BOX.width}" y1="${place(plot.y(ms))}" y2="${place(plot.y(ms))}"/>
<text x="${BOX.left - 8}" y="${place(plot.y(ms) + 4)}" text-anchor="end">${formatMsTick(ms)}</text>`,
  );
  const foot = shareTicks(plot.maxPosition).map(({ at, label }) => {
    const right = BOX.left + BOX.width;
    const x = BOX.left + (at / plot.maxPosition) * BOX.width;
    const isAtEdge = right - x < EDGE_MARGIN;
    return markup`<text x="${place(isAtEdge ? right : x)}" y="${HEIGHT - 6}" text-anchor="${isAtEdge ? "end" : "middle"}">${label}</text>`;
  });
  const drawn = plot.paths.map((path, at) => markup`<path class="line ${lines[at]?.style ?? ""}" d="${path}"/>`);
  return svg(summary, [...rows, ...foot, ...drawn]);
}
