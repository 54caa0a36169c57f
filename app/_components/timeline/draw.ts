import type { PlacedBand } from "@/app/_lib/fault-bands";
import {
  ALARM_MARKS,
  type Density,
  densityOf,
  type LaneBox,
  type Spans,
  spansInView,
  type TimeRange,
  ticksIn,
} from "@/app/_lib/timeline-view";
import type { TimelineFault } from "@/lib/runs/evidence";
import { hatch, mixed, type Palette } from "../chart/colours";
import { FACE, paintBandNames, paintBands, placeOn } from "../chart/fault-bands";

/** Input of one drawing of the timeline. Sizes are in CSS pixels. */
export interface Scene {
  readonly spans: Spans;
  readonly lanes: readonly string[];
  readonly boxes: readonly LaneBox[];
  readonly range: TimeRange;
  readonly faults: readonly TimelineFault[];
  /** Height reserved for fault names above the lanes. */
  readonly head: number;
  /** Indices of the spans in the shown interleaving. */
  readonly selected: readonly number[];
  /** Those of the selected spans that broke a rule. */
  readonly alarmed: readonly number[];
  readonly width: number;
  readonly height: number;
}

export const LABEL_WIDTH = 60;
export const AXIS_HEIGHT = 26;
/** Rows of fault names above the lanes. */
export const MAX_FAULT_ROWS = 2;
/** Above this number of bars, the timeline draws densities: single bars would be too thin and too slow. */
const MAX_BARS = 3_000;
const SELECTED_HEIGHT = 18;
/** Minimum height of a bar that can show its values. */
const MIN_READABLE_PX = 12;
const TICK_SPACE = 84;
/** Other bars are faded: without a lock, nearly every purchase is marked. */
const CALM_SHARE = 0.5;
const ALARM_SHARE = 0.55;

export function drawTimeline(pen: CanvasRenderingContext2D, scene: Scene, palette: Palette): void {
  new Painter(pen, scene, palette).draw();
}

interface Bar {
  readonly x: number;
  readonly w: number;
  readonly y: number;
  readonly h: number;
}

class Painter {
  private readonly bottom: number;
  private readonly width: number;
  private readonly calm: string;
  private readonly stripes: CanvasPattern | string;
  /** Drawn last, so that the edge of a fault does not cross a value. */
  private readonly labels: (() => void)[] = [];

  constructor(
    private readonly pen: CanvasRenderingContext2D,
    private readonly scene: Scene,
    private readonly palette: Palette,
  ) {
    this.bottom = scene.height - AXIS_HEIGHT;
    this.width = Math.max(1, scene.width - LABEL_WIDTH);
    this.calm = mixed(palette.accent, palette.paper, CALM_SHARE);
    this.stripes = hatch(pen, mixed(palette.alarm, palette.paper, ALARM_SHARE), palette.paper);
  }

  draw(): void {
    const { pen, scene } = this;
    pen.clearRect(0, 0, scene.width, scene.height);
    this.drawLanes();
    const faults = this.placeFaults();
    const { head } = scene;
    const onto = { palette: this.palette, box: { top: head, height: this.bottom - head, head, scale: 1 } };
    paintBands(pen, faults, onto);
    const overlap = this.drawOverlap();
    const inView = spansInView(scene.spans, scene.range, MAX_BARS + 1);
    if (inView.length > MAX_BARS) this.drawDensities();
    else this.drawBars(inView);
    this.drawSelected();
    paintBandNames(pen, faults, onto);
    for (const drawLabel of this.labels) drawLabel();
    this.drawAxis(overlap);
  }

  private x(us: number): number {
    const { fromUs, toUs } = this.scene.range;
    return LABEL_WIDTH + ((us - fromUs) / (toUs - fromUs)) * this.width;
  }

  /** Left edge and width within the canvas; null if outside. */
  private across(fromUs: number, toUs: number): { x: number; w: number } | null {
    const from = Math.max(LABEL_WIDTH, this.x(fromUs));
    const to = Math.min(LABEL_WIDTH + this.width, this.x(toUs));
    return to < from ? null : { x: from, w: Math.max(1.5, to - from) };
  }

  private endOf(index: number): number {
    const { spans } = this.scene;
    return (spans.fromUs[index] ?? 0) + (spans.lengthUs[index] ?? 0);
  }

  private drawLanes(): void {
    const { pen, scene, palette } = this;
    pen.font = `12px ${FACE}`;
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    for (const [index, box] of scene.boxes.entries()) {
      pen.fillStyle = palette.muted;
      pen.fillText(scene.lanes[index] ?? "", 0, box.top + box.height / 2, LABEL_WIDTH - 8);
      pen.fillStyle = palette.line;
      pen.fillRect(LABEL_WIDTH, Math.round(box.top + box.height + 4), this.width, 1);
    }
  }

  /** Bands of the faults within the visible range. */
  private placeFaults(): PlacedBand[] {
    const { pen, scene, width } = this;
    const { fromUs, toUs } = scene.range;
    const inView = scene.faults.filter((fault) => fault.fromUs <= toUs && fault.toUs >= fromUs);
    const bands = inView.map((fault) => ({ label: fault.faultId, fromS: fault.fromUs / 1e6, toS: fault.toUs / 1e6 }));
    return placeOn(pen, bands, {
      left: LABEL_WIDTH,
      width,
      xOf: (seconds) => this.x(seconds * 1e6),
      scale: 1,
      maxRows: MAX_FAULT_ROWS,
    });
  }

  /** Highlights the time that the selected holders overlap. */
  private drawOverlap(): { x: number; w: number } | null {
    const { pen, scene, palette } = this;
    if (scene.alarmed.length === 0 || scene.selected.length < 2) return null;
    const from = Math.max(...scene.selected.map((index) => scene.spans.fromUs[index] ?? 0));
    const to = Math.min(...scene.selected.map((index) => this.endOf(index)));
    const at = to > from ? this.across(from, to) : null;
    if (!at) return null;
    pen.globalAlpha = 0.16;
    pen.fillStyle = palette.alarm;
    pen.fillRect(at.x, 0, at.w, this.bottom);
    pen.globalAlpha = 1;
    return at;
  }

  private barOf(index: number): Bar | null {
    const { spans, boxes } = this.scene;
    const box = boxes[spans.lane[index] ?? 0];
    const at = this.across(spans.fromUs[index] ?? 0, this.endOf(index));
    if (!box || !at) return null;
    const gap = box.rowHeight > 5 ? 2 : 0;
    const y = box.top + (spans.row[index] ?? 0) * box.rowHeight;
    return { ...at, y, h: Math.max(1, box.rowHeight - gap) };
  }

  private drawBars(indices: readonly number[]): void {
    const { pen, scene } = this;
    for (const index of indices) {
      const bar = this.barOf(index);
      if (!bar) continue;
      const marks = scene.spans.marks[index] ?? 0;
      pen.fillStyle = marks & ALARM_MARKS ? this.stripes : this.calm;
      pen.fillRect(bar.x, bar.y, bar.w, bar.h);
      if (marks & HARMLESS) this.outline(bar);
    }
  }

  /** Dashed outline: an overlap that fencing made harmless. */
  private outline({ x, y, w, h }: Bar): void {
    const { pen, palette } = this;
    pen.save();
    pen.strokeStyle = palette.ink;
    pen.setLineDash([3, 2]);
    pen.strokeRect(x + 0.5, y + 0.5, Math.max(1, w - 1), Math.max(1, h - 1));
    pen.restore();
  }

  private drawDensities(): void {
    const { range, spans, boxes } = this.scene;
    const width = Math.floor(this.width);
    const densities = densityOf(spans, { range, width, laneCount: boxes.length });
    for (const [index, box] of boxes.entries()) {
      const density = densities[index];
      if (density) this.drawDensity(density, box);
    }
  }

  /** Scaled to the peak within the visible range. */
  private drawDensity({ all, marked }: Density, box: LaneBox): void {
    const { pen } = this;
    const most = all.reduce((top, value) => Math.max(top, value), 1);
    const columns = (values: Float32Array) => {
      values.forEach((value, at) => {
        if (value <= 0) return;
        const height = Math.max(2, (value / most) * box.height);
        pen.fillRect(LABEL_WIDTH + at, box.top + box.height - height, 1, height);
      });
    };
    pen.fillStyle = this.calm;
    columns(all);
    pen.fillStyle = this.stripes;
    columns(marked);
  }

  /** Draws the selected spans large enough to show their values. */
  private drawSelected(): void {
    const { scene } = this;
    const byLane = new Map<number, number[]>();
    for (const index of scene.selected) {
      const lane = scene.spans.lane[index] ?? 0;
      byLane.set(lane, [...(byLane.get(lane) ?? []), index]);
    }
    for (const [lane, indices] of byLane) {
      const box = scene.boxes[lane];
      if (box) this.drawSelectedIn(box, indices);
    }
  }

  private drawSelectedIn(box: LaneBox, indices: readonly number[]): void {
    const slot = box.height / indices.length;
    for (const [place, index] of indices.entries()) {
      const own = this.barOf(index);
      if (own && own.h >= MIN_READABLE_PX) {
        this.drawSelectedBar(index, own.y, own.h);
        continue;
      }
      const height = Math.min(SELECTED_HEIGHT, slot - 1);
      this.drawSelectedBar(index, box.top + place * slot + (slot - height) / 2, height);
    }
  }

  private drawSelectedBar(index: number, y: number, h: number): void {
    const { pen, scene } = this;
    const at = this.across(scene.spans.fromUs[index] ?? 0, this.endOf(index));
    if (!at) return;
    const w = Math.max(3, at.w);
    pen.fillStyle = this.palette.paper;
    pen.fillRect(at.x - 1, y - 1, w + 2, h + 2);
    pen.fillStyle = this.colourOf(index);
    pen.fillRect(at.x, y, w, h);
    this.labels.push(() => this.drawValues(index, { x: at.x, w, y, h }));
  }

  private colourOf(index: number): string {
    return this.scene.alarmed.includes(index) ? this.palette.alarm : this.palette.accent;
  }

  /** "17→16", inside the bar if it fits, else beside it. */
  private drawValues(index: number, { x, w, y, h }: Bar): void {
    const { pen, scene, palette } = this;
    const [read, wrote] = [scene.spans.readValue[index] ?? null, scene.spans.writtenValue[index] ?? null];
    if (read === null && wrote === null) return;
    const text = `${read ?? ""}→${wrote ?? "nothing"}`;
    pen.font = `12px ${FACE}`;
    pen.textBaseline = "middle";
    const length = pen.measureText(text).width;
    if (length + 10 <= w) {
      pen.fillStyle = this.colourOf(index);
      pen.fillRect(x + 2, y, length + 6, h);
      pen.fillStyle = palette.paper;
      pen.fillText(text, x + 5, y + h / 2 + 1);
      return;
    }
    const isRoomRight = x + w + length + 8 < LABEL_WIDTH + this.width;
    const left = isRoomRight ? x + w + 4 : x - length - 4;
    pen.fillStyle = palette.paper;
    pen.fillRect(left - 2, y, length + 4, h);
    pen.fillStyle = this.colourOf(index);
    pen.fillText(text, left, y + h / 2 + 1);
  }

  private drawAxis(overlap: { x: number; w: number } | null): void {
    const { pen, scene, palette } = this;
    const { ticks, unit } = ticksIn(scene.range, Math.floor(this.width / TICK_SPACE));
    const baseline = this.bottom + 16;
    pen.font = `11px ${FACE}`;
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    const label = overlap ? "both inside" : "";
    const middle = overlap ? overlap.x + overlap.w / 2 : 0;
    const half = pen.measureText(label).width / 2 + 6;
    const centre = Math.min(scene.width - half, Math.max(LABEL_WIDTH + half, middle));
    for (const [place, { atUs, text }] of ticks.entries()) {
      const tick = place === ticks.length - 1 ? `${text} ${unit}` : text;
      const width = pen.measureText(tick).width;
      const at = Math.min(this.x(atUs), scene.width - width / 2);
      if (overlap && Math.abs(at - centre) < half + width / 2) continue;
      pen.fillStyle = palette.muted;
      pen.fillText(tick, at, baseline);
    }
    pen.fillStyle = palette.alarm;
    if (overlap) pen.fillText(label, centre, baseline);
    pen.textAlign = "left";
  }
}

/** `SPAN_MARKS.fencedOverlap`: fencing tokens made the overlap harmless. */
const HARMLESS = 8;
