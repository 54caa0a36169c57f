import type uPlot from "uplot";
import type { FaultBand } from "@/app/_lib/fault-bands";
import { hatch, type Palette } from "./colours";

const FACE = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** Hatches the time of each fault behind the lines, with its name at the top. */
export function drawBands(plot: uPlot, palette: Palette, bands: readonly FaultBand[]): void {
  if (bands.length === 0) return;
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  for (const { label, fromS, toS } of bands) {
    const from = plot.valToPos(fromS, "x", true);
    // A fault may be over in less than a pixel.
    const across = Math.max(2 * ratio, plot.valToPos(toS, "x", true) - from);
    ctx.globalAlpha = 0.2;
    ctx.fillStyle = hatch(ctx, palette.ink, palette.paper);
    ctx.fillRect(from, top, across, height);
    ctx.globalAlpha = 1;
    ctx.fillStyle = palette.ink;
    ctx.font = `${11 * ratio}px ${FACE}`;
    ctx.textBaseline = "top";
    ctx.fillText(label, from + 3 * ratio, top + 2 * ratio);
  }
  ctx.restore();
}
