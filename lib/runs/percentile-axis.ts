/**
 * Geometry of the percentile curve: latency over 1 / (1 - p) on a logarithmic axis, so that 99 % to 99.9 % is as wide as 0 to 90 %.
 * The page and the exported file draw the same lines with it.
 */

export interface CurvePoint {
  /** Share of the purchases that were answered within `ms`, from 0 to below 1. */
  readonly share: number;
  readonly ms: number;
}

/** The position of a share on the axis: 0 at 0, 1 at 90 %, 2 at 99 %, 3 at 99.9 %. */
export function percentilePosition(share: number): number {
  return Math.log10(1 / (1 - share));
}

/** The share of the maximum: it is one of all purchases. */
export function shareOfMax(purchases: number): number {
  return 1 - 1 / Math.max(2, purchases);
}

export interface Tick {
  readonly at: number;
  readonly label: string;
}

const SHARES: readonly (readonly [number, string])[] = [
  [0, "0"],
  [0.5, "50 %"],
  [0.9, "90 %"],
  [0.99, "99 %"],
  [0.999, "99.9 %"],
  [0.9999, "99.99 %"],
  [0.99999, "99.999 %"],
];

/** Ticks of the share axis, up to the end of the curves. */
export function shareTicks(maxPosition: number): Tick[] {
  return SHARES.map(([share, label]) => ({ at: percentilePosition(share), label })).filter(
    ({ at }) => at <= maxPosition + 1e-9,
  );
}

export interface MsScale {
  readonly min: number;
  readonly max: number;
  readonly isLogarithmic: boolean;
  readonly ticks: readonly number[];
}

/** With a larger ratio between the curves, the lower one would be flat on a linear axis. */
const LOGARITHMIC_FROM = 12;

/** Less than a nanosecond: below the resolution of the clocks, and too small to divide into ticks. */
const LEAST_MS = 1e-6;

/** The scale of a plot in milliseconds: linear from 0, or logarithmic if the curves are far apart. */
export function msScale(curves: readonly (readonly CurvePoint[])[]): MsScale {
  const highest = Math.max(0, ...curves.flatMap((curve) => curve.map(({ ms }) => ms)));
  if (highest < LEAST_MS) return { min: 0, max: 1, isLogarithmic: false, ticks: [0, 1] };
  const tops = curves.flatMap((curve) => (curve.length === 0 ? [] : [Math.max(...curve.map(({ ms }) => ms))]));
  const isLogarithmic = highest / Math.max(Math.min(...tops), 1e-3) >= LOGARITHMIC_FROM;
  return isLogarithmic ? logarithmic(curves, highest) : linear(highest);
}

function linear(highest: number): MsScale {
  const step = niceStep(highest / 4);
  const count = Math.ceil(highest / step - 1e-9);
  const ticks = Array.from({ length: count + 1 }, (_, index) => trimmed(index * step));
  return { min: 0, max: ticks.at(-1) ?? highest, isLogarithmic: false, ticks };
}

function logarithmic(curves: readonly (readonly CurvePoint[])[], highest: number): MsScale {
  const positive = curves.flatMap((curve) => curve.map(({ ms }) => ms)).filter((ms) => ms > 0);
  // At most three decades: lower values are below 0.1 % of the highest.
  const lowest = Math.max(Math.min(...positive), highest / 1_000);
  const from = Math.floor(Math.log10(lowest) + 1e-9);
  const to = Math.ceil(Math.log10(highest) - 1e-9);
  const decades = Array.from({ length: Math.max(1, to - from) + 1 }, (_, index) => trimmed(10 ** (from + index)));
  return { min: decades[0] ?? 1, max: decades.at(-1) ?? 10, isLogarithmic: true, ticks: decades };
}

/** The smallest of 1, 2 or 5 times a power of ten that is at least `atLeast`. */
function niceStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= atLeast * (1 - 1e-9)) ?? 10;
  return factor * power;
}

function trimmed(value: number): number {
  return Number(value.toPrecision(6));
}

/** Position of a duration on the scale, from the bottom (0) to the top (1). */
export function msFraction(ms: number, { min, max, isLogarithmic }: MsScale): number {
  if (!isLogarithmic) return ms / max;
  const clamped = Math.max(ms, min);
  return (Math.log10(clamped) - Math.log10(min)) / (Math.log10(max) - Math.log10(min));
}

/** The latency at a share, interpolated between the curve's points; null beyond its ends. */
export function msAt(curve: readonly CurvePoint[], share: number): number | null {
  const after = curve.findIndex((point) => point.share >= share - 1e-12);
  const right = curve[after];
  if (right === undefined) return null;
  const left = curve[after - 1];
  if (left === undefined) return Math.abs(right.share - share) < 1e-9 ? right.ms : null;
  const [from, to] = [percentilePosition(left.share), percentilePosition(right.share)];
  const portion = to === from ? 1 : (percentilePosition(share) - from) / (to - from);
  return left.ms + (right.ms - left.ms) * portion;
}

export interface PlotBox {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface PercentilePlot {
  readonly scale: MsScale;
  readonly maxPosition: number;
  /** The `d` of an SVG path for each curve; empty for a curve without points. */
  readonly paths: readonly string[];
  readonly x: (share: number) => number;
  readonly y: (ms: number) => number;
}

/** Lays out curves in a box. The axis reaches at least 99 %, so that short runs are not stretched. */
export function layOutCurves(curves: readonly (readonly CurvePoint[])[], box: PlotBox): PercentilePlot {
  const scale = msScale(curves);
  const positions = curves.flatMap((curve) => curve.map(({ share }) => percentilePosition(share)));
  const maxPosition = Math.max(2, ...positions);
  const x = (share: number) => box.left + (percentilePosition(share) / maxPosition) * box.width;
  const y = (ms: number) => box.top + (1 - msFraction(ms, scale)) * box.height;
  const paths = curves.map((curve) =>
    curve
      .map(({ share, ms }, index) => `${index === 0 ? "M" : "L"}${x(share).toFixed(1)} ${y(ms).toFixed(1)}`)
      .join(""),
  );
  return { scale, maxPosition, paths, x, y };
}
