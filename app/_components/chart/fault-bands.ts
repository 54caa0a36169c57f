import type uPlot from "uplot";
import { type BandSpace, type FaultBand, type PlacedBand, placeBands } from "@/app/_lib/fault-bands";
import type { Palette } from "./colours";

/** Draws faults on a canvas: a tinted band behind the data and the fault's name above it. */

export const FACE = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const NAME_FONT_PX = 11;
export const NAME_ROW_PX = 15;
const MIN_BAND_PX = 3;

/** Rows of names above a chart. */
export const MAX_ROWS = 4;

/** Area of the bands, in canvas pixels; `scale` canvas pixels make one CSS pixel. */
export interface BandBox {
  readonly top: number;
  readonly height: number;
  /** Height reserved for names above `top`. */
  readonly head: number;
  readonly scale: number;
}

interface PaintTarget {
  readonly palette: Palette;
  readonly box: BandBox;
}

/** Height of the names above a chart, in CSS pixels. */
export function headOf(bands: readonly Pick<PlacedBand, "row">[]): number {
  const rows = bands.reduce((most, { row }) => Math.max(most, row + 1), 0);
  return rows * NAME_ROW_PX;
}

/** Draws the tinted bands; call before the data is drawn. */
export function paintBands(
  pen: CanvasRenderingContext2D,
  bands: readonly PlacedBand[],
  { palette, box }: PaintTarget,
): void {
  pen.save();
  pen.globalAlpha = 0.09;
  pen.fillStyle = palette.ink;
  for (const { x, width } of bands) pen.fillRect(x, box.top, width, box.height);
  pen.restore();
}

/** Draws edges and names over the data; the edges keep a very short fault visible. */
export function paintBandNames(
  pen: CanvasRenderingContext2D,
  bands: readonly PlacedBand[],
  { palette, box }: PaintTarget,
): void {
  const { top, height, head, scale } = box;
  const nameTop = (row: number) => top - head + row * NAME_ROW_PX * scale;
  pen.save();
  setNameFont(pen, scale);
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.globalAlpha = 0.55;
  pen.fillStyle = palette.ink;
  for (const { x, width, row } of bands) {
    pen.fillRect(x, nameTop(row), scale, top + height - nameTop(row));
    pen.fillRect(x + width - scale, top, scale, height);
  }
  pen.globalAlpha = 1;
  for (const { text, textX, textWidth, row } of bands) {
    if (text === "") continue;
    pen.fillStyle = palette.paper;
    pen.fillRect(textX - 2 * scale, nameTop(row), textWidth + 4 * scale, NAME_ROW_PX * scale);
    pen.fillStyle = palette.ink;
    pen.fillText(text, textX, nameTop(row) + (NAME_ROW_PX / 2) * scale);
  }
  pen.restore();
}

function setNameFont(pen: CanvasRenderingContext2D, scale: number): void {
  pen.font = `${NAME_FONT_PX * scale}px ${FACE}`;
}

/** Places the bands, measuring names in the font that draws them. */
export function placeOn(
  pen: CanvasRenderingContext2D,
  bands: readonly FaultBand[],
  space: Pick<BandSpace, "left" | "width" | "xOf" | "maxRows"> & { readonly scale: number },
): PlacedBand[] {
  const { scale, ...where } = space;
  pen.save();
  setNameFont(pen, scale);
  const widthOf = (text: string) => pen.measureText(text).width;
  const placed = placeBands(bands, { ...where, widthOf, minWidth: MIN_BAND_PX * scale });
  pen.restore();
  return placed;
}

function onPlot(plot: uPlot, bands: readonly FaultBand[]): { placed: PlacedBand[]; box: BandBox } {
  const { left, top, width, height } = plot.bbox;
  const scale = devicePixelRatio;
  const xOf = (seconds: number) => plot.valToPos(seconds, "x", true);
  const placed = placeOn(plot.ctx, bands, { left, width, xOf, scale, maxRows: MAX_ROWS });
  return { placed, box: { top, height, head: headOf(placed) * scale, scale } };
}

export function drawBands(plot: uPlot, palette: Palette, bands: readonly FaultBand[]): void {
  if (bands.length === 0) return;
  const { placed, box } = onPlot(plot, bands);
  paintBands(plot.ctx, placed, { palette, box });
}

export function drawBandNames(plot: uPlot, palette: Palette, bands: readonly FaultBand[]): void {
  if (bands.length === 0) return;
  const { placed, box } = onPlot(plot, bands);
  paintBandNames(plot.ctx, placed, { palette, box });
}

/** Height of the names above a plot of this width that ends at `endS`, in CSS pixels. */
export function headFor(
  plot: uPlot,
  bands: readonly FaultBand[],
  { width, endS }: { width: number; endS: number },
): number {
  if (bands.length === 0) return 0;
  const xOf = (seconds: number) => (seconds / endS) * width;
  return headOf(placeOn(plot.ctx, bands, { left: 0, width, xOf, scale: 1, maxRows: MAX_ROWS }));
}
