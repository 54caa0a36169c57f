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

/** Everything the timeline's canvas shows. Sizes are CSS pixels. */
export interface Scene {
  readonly spans: Spans;
  readonly lanes: readonly string[];
  readonly boxes: readonly LaneBox[];
  readonly range: TimeRange;
  readonly faults: readonly TimelineFault[];
  /** Room for the faults' names above the lanes. */
  readonly head: number;
  /** Columns of the purchases whose lines are being read. */
  readonly chosen: readonly number[];
  /** The chosen ones did something wrong together. */
  readonly isAlarm: boolean;
  readonly width: number;
  readonly height: number;
}

export const LABEL_WIDTH = 60;
export const AXIS_HEIGHT = 26;
/** More bars than this are drawn as how many there were: single ones would be thinner than dust, and slower. */
const MOST_BARS = 3_000;
const CHOSEN_HEIGHT = 18;
/** A bar this high has room for its values where it is. */
const LEAST_READABLE = 12;
const TICK_SPACE = 84;
/** What surrounds the chosen ones stands back: without a lock nearly every purchase is marked. */
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
    const together = this.drawTogether();
    const inView = spansInView(scene.spans, scene.range, MOST_BARS + 1);
    if (inView.length > MOST_BARS) this.drawDensities();
    else this.drawBars(inView);
    this.drawChosen();
    paintBandNames(pen, faults, onto);
    this.drawAxis(together);
  }

  private x(us: number): number {
    const { fromUs, toUs } = this.scene.range;
    return LABEL_WIDTH + ((us - fromUs) / (toUs - fromUs)) * this.width;
  }

  /** Left edge and width within the canvas; null outside of it. */
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

  /** Those in view; between its edges a fault is where it was, however far one looks into the run. */
  private placeFaults(): PlacedBand[] {
    const { pen, scene, width } = this;
    const { fromUs, toUs } = scene.range;
    const inView = scene.faults.filter((fault) => fault.fromUs <= toUs && fault.toUs >= fromUs);
    const bands = inView.map((fault) => ({ label: fault.faultId, fromS: fault.fromUs / 1e6, toS: fault.toUs / 1e6 }));
    return placeOn(pen, bands, { left: LABEL_WIDTH, width, xOf: (seconds) => this.x(seconds * 1e6), scale: 1 });
  }

  /** The time that the chosen ones spent inside together. */
  private drawTogether(): { x: number; w: number } | null {
    const { pen, scene, palette } = this;
    if (!scene.isAlarm || scene.chosen.length < 2) return null;
    const from = Math.max(...scene.chosen.map((index) => scene.spans.fromUs[index] ?? 0));
    const to = Math.min(...scene.chosen.map((index) => this.endOf(index)));
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

  /** Dashed: two were inside, and it did no harm. */
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

  /** As high as the most that were inside at once, in view. */
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

  /** Whose lines are being read: large enough for their values, wherever their row is. */
  private drawChosen(): void {
    const { scene } = this;
    const byLane = new Map<number, number[]>();
    for (const index of scene.chosen) {
      const lane = scene.spans.lane[index] ?? 0;
      byLane.set(lane, [...(byLane.get(lane) ?? []), index]);
    }
    for (const [lane, indices] of byLane) {
      const box = scene.boxes[lane];
      if (box) this.drawChosenIn(box, indices);
    }
  }

  private drawChosenIn(box: LaneBox, indices: readonly number[]): void {
    const slot = box.height / indices.length;
    for (const [place, index] of indices.entries()) {
      const own = this.barOf(index);
      if (own && own.h >= LEAST_READABLE) {
        this.drawChosenBar(index, own.y, own.h);
        continue;
      }
      const height = Math.min(CHOSEN_HEIGHT, slot - 1);
      this.drawChosenBar(index, box.top + place * slot + (slot - height) / 2, height);
    }
  }

  private drawChosenBar(index: number, y: number, h: number): void {
    const { pen, scene, palette } = this;
    const at = this.across(scene.spans.fromUs[index] ?? 0, this.endOf(index));
    if (!at) return;
    const w = Math.max(3, at.w);
    pen.fillStyle = palette.paper;
    pen.fillRect(at.x - 1, y - 1, w + 2, h + 2);
    pen.fillStyle = scene.isAlarm ? palette.alarm : palette.accent;
    pen.fillRect(at.x, y, w, h);
    this.drawValues(index, { x: at.x, w, y, h });
  }

  /** "17→16", inside the bar where it fits, else beside it. */
  private drawValues(index: number, { x, w, y, h }: Bar): void {
    const { pen, scene, palette } = this;
    const [read, wrote] = [scene.spans.readValue[index] ?? null, scene.spans.writtenValue[index] ?? null];
    if (read === null && wrote === null) return;
    const text = `${read ?? ""}→${wrote ?? "nothing"}`;
    pen.font = `12px ${FACE}`;
    pen.textBaseline = "middle";
    const length = pen.measureText(text).width;
    if (length + 10 <= w) {
      pen.fillStyle = palette.paper;
      pen.fillText(text, x + 5, y + h / 2 + 1);
      return;
    }
    const isRoomRight = x + w + length + 8 < LABEL_WIDTH + this.width;
    const left = isRoomRight ? x + w + 4 : x - length - 4;
    pen.fillStyle = palette.paper;
    pen.fillRect(left - 2, y, length + 4, h);
    pen.fillStyle = scene.isAlarm ? palette.alarm : palette.accent;
    pen.fillText(text, left, y + h / 2 + 1);
  }

  private drawAxis(together: { x: number; w: number } | null): void {
    const { pen, scene, palette } = this;
    const { ticks, unit } = ticksIn(scene.range, Math.floor(this.width / TICK_SPACE));
    const baseline = this.bottom + 16;
    pen.font = `11px ${FACE}`;
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    const words = together ? "both inside" : "";
    const middle = together ? together.x + together.w / 2 : 0;
    const half = pen.measureText(words).width / 2 + 6;
    const centre = Math.min(scene.width - half, Math.max(LABEL_WIDTH + half, middle));
    for (const [place, { atUs, text }] of ticks.entries()) {
      const label = place === ticks.length - 1 ? `${text} ${unit}` : text;
      const width = pen.measureText(label).width;
      const at = Math.min(this.x(atUs), scene.width - width / 2);
      if (together && Math.abs(at - centre) < half + width / 2) continue;
      pen.fillStyle = palette.muted;
      pen.fillText(label, at, baseline);
    }
    pen.fillStyle = palette.alarm;
    if (together) pen.fillText(words, centre, baseline);
    pen.textAlign = "left";
  }
}

/** `SPAN_MARKS.fencedOverlap`: two were inside, and their fencing tokens kept it harmless. */
const HARMLESS = 8;
