import type { Timeline } from "@/lib/history/timeline";
import type { TimelineFault } from "@/lib/runs/evidence";
import { formatStepMs, plural } from "../format";
import {
  ALARM_MARKS,
  type LaneBox,
  laneBoxes,
  markText,
  rangeText,
  type Spans,
  spansInView,
  type TimeRange,
  ticksIn,
  toSpans,
} from "../timeline-view";
import { type Markup, markup } from "./markup";
import { bandMarks, place, svg } from "./svg-charts";

/** Static version of the holder timeline, at the time range with which the page opens. */

export interface HolderView {
  readonly timeline: Timeline;
  readonly faults: readonly TimelineFault[];
  readonly range: TimeRange;
  /** Indices of the spans in the shown interleaving. */
  readonly selected: readonly number[];
  /** Those of the selected spans that broke a rule. */
  readonly alarmed: readonly number[];
}

const WIDTH = 1160;
const LABELS = 70;
const AXIS = 26;
const TICK_SPACE = 90;
/** Minimum width of a bar that can show its values, in SVG units. */
const MIN_READABLE_WIDTH = 80;
const SELECTED_HEIGHT = 22;
/** Limit of drawn bars and table rows; the page shows all. */
const MAX_BARS = 600;

export interface DrawnHolders {
  readonly drawing: Markup;
  readonly caption: string;
  /** Node, from, duration, read, wrote, violation. */
  readonly rows: readonly (readonly string[])[];
}

export function holderTimeline(view: HolderView): DrawnHolders {
  const { timeline, range } = view;
  const spans = toSpans(timeline.spans);
  const inView = spansInView(spans, range);
  const shown = inView.slice(0, MAX_BARS);
  const more = inView.length > shown.length ? `, first ${shown.length} drawn` : "";
  const caption = `${rangeText(range)}, ${plural(inView.length, "purchase")}${more}`;
  return { drawing: drawingOf(view, { spans, shown, caption }), caption, rows: rowsOf(timeline.lanes, spans, shown) };
}

function drawingOf(
  view: HolderView,
  { spans, shown, caption }: { spans: Spans; shown: readonly number[]; caption: string },
): Markup {
  const { timeline, faults, range, selected, alarmed } = view;
  const { boxes, height } = laneBoxes(timeline.depths);
  const width = WIDTH - LABELS;
  const x = (us: number) =>
    LABELS + Math.min(1, Math.max(0, (us - range.fromUs) / (range.toUs - range.fromUs))) * width;
  const isSeen = ({ fromUs, toUs }: TimelineFault) => fromUs <= range.toUs && toUs >= range.fromUs;
  const bands = faults
    .filter(isSeen)
    .map(({ faultId, fromUs, toUs }) => ({ label: faultId, fromS: fromUs, toS: toUs }));
  const { behind, above, head } = bandMarks(bands, { left: LABELS, width, top: 0, height, xOf: x });
  const selectedSet = new Set(selected);
  const drawn = shown.filter((index) => !selectedSet.has(index)).map((index) => barOf(spans, index, { boxes, x }));
  const selectedBars = selected.map((index) => selectedBar(spans, index, { boxes, x, selected, alarmed }));
  const body = [
    ...behind,
    ...lanesOf(timeline.lanes, boxes),
    ...axisOf(range, { x, y: height + 18 }),
    ...drawn,
    ...selectedBars,
    ...above,
  ];
  return svg(`Critical sections by node: ${caption}.`, body, { width: WIDTH, height: height + AXIS, head });
}

function lanesOf(lanes: readonly string[], boxes: readonly LaneBox[]): Markup[] {
  return boxes.map(({ top, height }, index) => {
    const foot = top + height + 4;
    return markup`<text x="0" y="${place(top + height / 2 + 4)}">${lanes[index] ?? ""}</text><line class="grid" x1="${LABELS}" x2="${WIDTH}" y1="${foot}" y2="${foot}"/>`;
  });
}

function axisOf(range: TimeRange, { x, y }: { x: (us: number) => number; y: number }): Markup[] {
  const { ticks, unit } = ticksIn(range, Math.floor((WIDTH - LABELS) / TICK_SPACE));
  return ticks.map(({ atUs, text }, index) => {
    const isLast = index === ticks.length - 1;
    return markup`<text x="${place(x(atUs))}" y="${y}" text-anchor="${isLast ? "end" : "middle"}">${text}${isLast ? ` ${unit}` : ""}</text>`;
  });
}

interface Lanes {
  readonly boxes: readonly LaneBox[];
  readonly x: (us: number) => number;
}

function acrossOf(spans: Spans, index: number, x: Lanes["x"]): { from: number; width: number } {
  const fromUs = spans.fromUs[index] ?? 0;
  const from = x(fromUs);
  return { from, width: Math.max(1.5, x(fromUs + (spans.lengthUs[index] ?? 0)) - from) };
}

function barOf(spans: Spans, index: number, { boxes, x }: Lanes): Markup {
  const box = boxes[spans.lane[index] ?? 0];
  if (!box) return markup``;
  const { from, width } = acrossOf(spans, index, x);
  const y = box.top + (spans.row[index] ?? 0) * box.rowHeight;
  const height = Math.max(1, box.rowHeight - (box.rowHeight > 5 ? 2 : 0));
  const style = (spans.marks[index] ?? 0) & ALARM_MARKS ? "wrong" : "inside";
  return markup`<rect class="${style}" x="${place(from)}" y="${place(y)}" width="${place(width)}" height="${place(height)}"/>`;
}

interface Selected extends Lanes {
  readonly selected: readonly number[];
  readonly alarmed: readonly number[];
}

/** Draws a selected span high enough to show its values; spans of one lane share the lane's height. */
function selectedBar(spans: Spans, index: number, { boxes, x, selected, alarmed }: Selected): Markup {
  const lane = spans.lane[index] ?? 0;
  const box = boxes[lane];
  if (!box) return markup``;
  const beside = selected.filter((other) => spans.lane[other] === lane);
  const slot = box.height / beside.length;
  const height = Math.min(SELECTED_HEIGHT, slot - 1);
  const y = box.top + beside.indexOf(index) * slot + (slot - height) / 2;
  const { from, width } = acrossOf(spans, index, x);
  const [read, wrote] = [spans.readValue[index] ?? null, spans.writtenValue[index] ?? null];
  const bar = markup`<rect class="plate" x="${place(from - 1)}" y="${place(y - 1)}" width="${place(width + 2)}" height="${place(height + 2)}"/><rect class="${alarmed.includes(index) ? "selected alarm" : "selected"}" x="${place(from)}" y="${place(y)}" width="${place(width)}" height="${place(height)}"/>`;
  if (width < MIN_READABLE_WIDTH || read === null) return bar;
  return markup`${bar}<text class="on-bar" x="${place(from + 5)}" y="${place(y + height / 2 + 4)}">${read}→${wrote ?? "nothing"}</text>`;
}

function rowsOf(lanes: readonly string[], spans: Spans, indices: readonly number[]): string[][] {
  const text = (value: number | null | undefined) => (value === null || value === undefined ? "–" : String(value));
  return indices.map((index) => [
    lanes[spans.lane[index] ?? 0] ?? "",
    formatStepMs(spans.fromUs[index] ?? 0),
    formatStepMs(spans.lengthUs[index] ?? 0),
    text(spans.readValue[index]),
    text(spans.writtenValue[index]),
    markText(spans.marks[index] ?? 0),
  ]);
}
