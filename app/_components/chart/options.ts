import type uPlot from "uplot";
import { formatTicks } from "@/app/_lib/format";
import { roundTop } from "@/app/_lib/value-axis";
import type { Palette, PaletteName } from "./colours";
import { hatch } from "./colours";
import { FACE } from "./fault-bands";
import type { BuildOptions } from "./uplot-canvas";

/** Shared style of the charts, and options for line charts and stacked bar charts. */

export const Y_AXIS_PX = 44;
const FONT = `11px ${FACE}`;

export interface LineSeries {
  readonly label: string;
  readonly colour: PaletteName;
  readonly dash?: readonly number[];
  readonly width?: number;
}

function axes(palette: Palette): uPlot.Axis[] {
  const shared: uPlot.Axis = {
    stroke: palette.muted,
    font: FONT,
    ticks: { show: false },
    grid: { stroke: palette.line, width: 1 },
  };
  return [
    { ...shared, grid: { show: false }, size: 26, gap: 6, space: 60 },
    { ...shared, size: Y_AXIS_PX, gap: 6, space: 34, values: (_, splits) => formatTicks(splits) },
  ];
}

function yRange(floor: number): uPlot.Range.Function {
  return (_, min, max) => [
    Math.min(0, Number.isFinite(min) ? min : 0),
    roundTop(Math.max(floor, Number.isFinite(max) ? max : 0)),
  ];
}

function base(palette: Palette, floor: number): Omit<uPlot.Options, "width" | "height" | "series"> {
  return {
    legend: { show: false },
    axes: axes(palette),
    scales: { y: { range: yRange(floor) } },
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { size: 6 } },
  };
}

function lineSeries(palette: Palette, { label, colour, dash, width }: LineSeries): uPlot.Series {
  return {
    label,
    stroke: palette[colour],
    width: width ?? 2,
    ...(dash ? { dash: [...dash] } : {}),
    points: { show: true, size: 4, stroke: palette[colour], fill: palette[colour], filter: hasNoNeighbour },
  };
}

/** Points without a neighbour, which a line chart would not draw. */
const hasNoNeighbour: uPlot.Series.Points.Filter = (plot, index) => {
  const values = plot.data[index] ?? [];
  const isEmpty = (at: number) => (values[at] ?? null) === null;
  return [...values.keys()].filter((at) => !isEmpty(at) && isEmpty(at - 1) && isEmpty(at + 1));
};

/** Lines over time. The y axis reaches at least to `floor`. */
export function lineOptions(series: readonly LineSeries[], floor: number): BuildOptions {
  return (palette) => ({
    ...base(palette, floor),
    series: [{}, ...series.map((one) => lineSeries(palette, one))],
  });
}

/** Orders and stock left, with a line at the initial stock and orders beyond it hatched. */
export function stockOptions(initial: number): BuildOptions {
  return (palette) => ({
    ...base(palette, initial * 1.1),
    series: [
      {},
      lineSeries(palette, { label: "orders", colour: "accent" }),
      lineSeries(palette, { label: "stock left", colour: "ink", dash: [5, 4] }),
    ],
    hooks: { drawAxes: [(plot) => drawBeyond(plot, palette, initial)] },
  });
}

/** Hatches the area where orders exceed the stock line. */
function drawBeyond(plot: uPlot, palette: Palette, initial: number): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const limitY = plot.valToPos(initial, "y", true);
  const [xs, orders = []] = plot.data;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, Math.max(0, limitY - top));
  ctx.clip();
  ctx.beginPath();
  xs.forEach((x, index) => {
    ctx.lineTo(plot.valToPos(x, "x", true), plot.valToPos(orders[index] ?? 0, "y", true));
  });
  const lastX = xs.at(-1);
  if (lastX !== undefined) {
    ctx.lineTo(plot.valToPos(lastX, "x", true), top + height);
    ctx.lineTo(plot.valToPos(xs[0] ?? 0, "x", true), top + height);
    ctx.fillStyle = hatch(ctx, palette.alarm, palette.paper);
    ctx.globalAlpha = 0.55;
    ctx.fill();
  }
  ctx.restore();
  ctx.save();
  ctx.strokeStyle = palette.muted;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(left, limitY);
  ctx.lineTo(left + width, limitY);
  ctx.stroke();
  ctx.restore();
}

export interface StackSeries {
  readonly label: string;
  readonly colour: PaletteName;
}

/**
 * Stacked bars over time; `stack` runs from bottom to top and the data are cumulative sums. A bar is as wide as its
 * interval.
 */
export function stackOptions(stack: readonly StackSeries[]): BuildOptions {
  return (palette) => ({
    ...base(palette, 1),
    series: [{}, ...stack.map(({ label }): uPlot.Series => ({ label, paths: () => null, points: { show: false } }))],
    hooks: { draw: [(plot) => drawStacks(plot, palette, stack)] },
  });
}

function drawStacks(plot: uPlot, palette: Palette, stack: readonly StackSeries[]): void {
  const { ctx } = plot;
  const [xs, ...sums] = plot.data;
  const gap = devicePixelRatio;
  const floorY = plot.valToPos(0, "y", true);
  ctx.save();
  stack.forEach(({ colour }, level) => {
    ctx.fillStyle = palette[colour];
    xs.forEach((x, index) => {
      const sum = sums[level]?.[index] ?? null;
      if (sum === null) return;
      const from = plot.valToPos(xs[index - 1] ?? 0, "x", true) + gap;
      const width = Math.max(2 * gap, plot.valToPos(x, "x", true) - from - gap);
      const bottom = level === 0 ? floorY : plot.valToPos(sums[level - 1]?.[index] ?? 0, "y", true) - gap;
      const top = plot.valToPos(sum, "y", true);
      if (bottom > top) ctx.fillRect(from, top, width, bottom - top);
    });
  });
  ctx.restore();
}
