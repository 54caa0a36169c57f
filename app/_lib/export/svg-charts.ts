import { type CurvePoint, layOutCurves, shareTicks } from "@/lib/runs/percentile-axis";
import { formatCount } from "../format";
import type { Columns } from "../series";
import { type Markup, markup } from "./markup";

/** Charts as SVG text, for a file that runs no script. Colours are the style sheet's classes. */

const WIDTH = 560;
const HEIGHT = 220;
const BOX = { left: 48, top: 10, width: WIDTH - 48 - 12, height: HEIGHT - 10 - 24 };

export interface Line {
  readonly label: string;
  /** Class of the style sheet: its stroke, dash and fill. */
  readonly style: string;
}

export function svg(summary: string, body: readonly Markup[]): Markup {
  return markup`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${summary}">${body}</svg>`;
}

interface Scales {
  readonly x: (seconds: number) => number;
  readonly y: (value: number) => number;
  readonly axes: readonly Markup[];
}

/** 1, 2 or 5 times a power of ten, for about four lines. */
function stepFor(max: number): number {
  const power = 10 ** Math.floor(Math.log10(max / 4));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= max / 4) ?? 10;
  return factor * power;
}

function scalesOf(columns: Columns, drawn: Columns["ys"]): Scales {
  const highest = Math.max(1, ...drawn.flatMap((values) => values.map((value) => value ?? 0)));
  const step = stepFor(highest);
  const top = Math.ceil(highest / step) * step;
  const seconds = Math.max(0.5, columns.x.at(-1) ?? 0);
  const x = (value: number) => BOX.left + (value / seconds) * BOX.width;
  const y = (value: number) => BOX.top + (1 - Math.max(0, value) / top) * BOX.height;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
  const rows = ticks.map(
    (tick) => markup`<line class="grid" x1="${BOX.left}" x2="${BOX.left + BOX.width}" y1="${y(tick)}" y2="${y(tick)}"/>
<text x="${BOX.left - 8}" y="${y(tick) + 4}" text-anchor="end">${formatCount(tick)}</text>`,
  );
  const foot = [
    markup`<text x="${BOX.left}" y="${HEIGHT - 6}">0 s</text>`,
    markup`<text x="${BOX.left + BOX.width}" y="${HEIGHT - 6}" text-anchor="end">${seconds.toFixed(1)} s</text>`,
  ];
  return { x, y, axes: [...rows, ...foot] };
}

function place(value: number): string {
  return value.toFixed(1);
}

/** One path a column; a gap where nothing was measured. */
function pathOf(columns: Columns, values: readonly (number | null)[], { x, y }: Scales): string {
  let isDown = false;
  return columns.x
    .map((seconds, index) => {
      const value = values[index] ?? null;
      if (value === null) {
        isDown = false;
        return "";
      }
      const command = isDown ? "L" : "M";
      isDown = true;
      return `${command}${place(x(seconds))} ${place(y(value))}`;
    })
    .join("");
}

export function lineChart(columns: Columns, lines: readonly Line[], summary: string): Markup {
  const shown = columns.ys.slice(0, lines.length);
  const scales = scalesOf(columns, shown);
  const paths = shown.map(
    (values, index) => markup`<path class="line ${lines[index]?.style ?? ""}" d="${pathOf(columns, values, scales)}"/>`,
  );
  return svg(summary, [...scales.axes, ...paths]);
}

/** @param tops what each part of a bar reaches to, from the bottom up */
export function barChart(
  columns: Columns,
  { tops, lines }: { tops: Columns["ys"]; lines: readonly Line[] },
  summary: string,
): Markup {
  const scales = scalesOf(columns, tops);
  const bars = columns.x.flatMap((seconds, at) => {
    // A bar is as wide as the interval it speaks of.
    const left = scales.x(columns.x[at - 1] ?? 0) + 0.75;
    const width = Math.max(1, scales.x(seconds) - left - 0.75);
    return lines.map((line, level) => {
      const top = tops[level]?.[at] ?? null;
      const bottom = level === 0 ? 0 : (tops[level - 1]?.[at] ?? 0);
      if (top === null || top <= bottom) return markup``;
      return markup`<rect class="${line.style}" x="${place(left)}" y="${place(scales.y(top))}" width="${place(width)}" height="${place(scales.y(bottom) - scales.y(top))}"/>`;
    });
  });
  return svg(summary, [...scales.axes, ...bars]);
}

export function curveChart(curve: readonly CurvePoint[], summary: string): Markup {
  const plot = layOutCurves([curve], BOX);
  const rows = plot.scale.ticks.map(
    (
      ms,
    ) => markup`<line class="grid" x1="${BOX.left}" x2="${BOX.left + BOX.width}" y1="${place(plot.y(ms))}" y2="${place(plot.y(ms))}"/>
<text x="${BOX.left - 8}" y="${place(plot.y(ms) + 4)}" text-anchor="end">${formatCount(ms)}</text>`,
  );
  const foot = shareTicks(plot.maxPosition).map(({ at, label }) => {
    const x = BOX.left + (at / plot.maxPosition) * BOX.width;
    return markup`<text x="${place(x)}" y="${HEIGHT - 6}" text-anchor="middle">${label}</text>`;
  });
  return svg(summary, [...rows, ...foot, markup`<path class="line accent" d="${plot.paths[0] ?? ""}"/>`]);
}
