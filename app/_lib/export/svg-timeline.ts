import type { Timeline } from "@/lib/history/timeline";
import type { TimelineFault } from "@/lib/runs/evidence";
import { plural } from "../format";
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

/** Who was inside, node by node, in one stretch of the run: the page's timeline as it opens, standing still. */

export interface HolderView {
  readonly timeline: Timeline;
  readonly faults: readonly TimelineFault[];
  readonly range: TimeRange;
  /** Columns of the purchases whose lines are told. */
  readonly chosen: readonly number[];
  /** They did something wrong together. */
  readonly isAlarm: boolean;
}

const WIDTH = 1160;
const LABELS = 70;
const AXIS = 26;
const TICK_SPACE = 90;
/** A bar this wide has room for its values, in units of the drawing. */
const READABLE = 80;
const SELECTED_HEIGHT = 22;
/** Bars that are drawn and rows that are listed; the page has the rest. */
const MOST_BARS = 600;

export interface DrawnHolders {
  readonly drawing: Markup;
  readonly words: string;
  /** Node, from, inside, read, wrote, marked. */
  readonly rows: readonly (readonly string[])[];
}

export function holderTimeline(view: HolderView): DrawnHolders {
  const { timeline, range } = view;
  const spans = toSpans(timeline.spans);
  const inView = spansInView(spans, range);
  const shown = inView.slice(0, MOST_BARS);
  const more = inView.length > shown.length ? `, of which the first ${shown.length} are drawn` : "";
  const words = `${rangeText(range)}, ${plural(inView.length, "purchase")}${more}`;
  return { drawing: drawingOf(view, { spans, shown, words }), words, rows: rowsOf(timeline.lanes, spans, shown) };
}

function drawingOf(
  view: HolderView,
  { spans, shown, words }: { spans: Spans; shown: readonly number[]; words: string },
): Markup {
  const { timeline, faults, range, chosen, isAlarm } = view;
  const { boxes, height } = laneBoxes(timeline.depths);
  const width = WIDTH - LABELS;
  const x = (us: number) =>
    LABELS + Math.min(1, Math.max(0, (us - range.fromUs) / (range.toUs - range.fromUs))) * width;
  const isSeen = ({ fromUs, toUs }: TimelineFault) => fromUs <= range.toUs && toUs >= range.fromUs;
  const bands = faults
    .filter(isSeen)
    .map(({ faultId, fromUs, toUs }) => ({ label: faultId, fromS: fromUs, toS: toUs }));
  const { behind, above, head } = bandMarks(bands, { left: LABELS, width, top: 0, height, xOf: x });
  const told = new Set(chosen);
  const drawn = shown.filter((index) => !told.has(index)).map((index) => barOf(spans, index, { boxes, x }));
  const chosenBars = chosen.map((index) => selectedBar(spans, index, { boxes, x, chosen, isAlarm }));
  const body = [
    ...behind,
    ...lanesOf(timeline.lanes, boxes),
    ...axisOf(range, { x, y: height + 18 }),
    ...drawn,
    ...chosenBars,
    ...above,
  ];
  return svg(`Who was inside, node by node: ${words}.`, body, { width: WIDTH, height: height + AXIS, head });
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
  readonly chosen: readonly number[];
  readonly isAlarm: boolean;
}

/** High enough for its values, whatever its row; those of one lane one below the other. */
function selectedBar(spans: Spans, index: number, { boxes, x, chosen, isAlarm }: Selected): Markup {
  const lane = spans.lane[index] ?? 0;
  const box = boxes[lane];
  if (!box) return markup``;
  const beside = chosen.filter((other) => spans.lane[other] === lane);
  const slot = box.height / beside.length;
  const height = Math.min(SELECTED_HEIGHT, slot - 1);
  const y = box.top + beside.indexOf(index) * slot + (slot - height) / 2;
  const { from, width } = acrossOf(spans, index, x);
  const [read, wrote] = [spans.readValue[index] ?? null, spans.writtenValue[index] ?? null];
  const bar = markup`<rect class="plate" x="${place(from - 1)}" y="${place(y - 1)}" width="${place(width + 2)}" height="${place(height + 2)}"/><rect class="${isAlarm ? "told alarm" : "told"}" x="${place(from)}" y="${place(y)}" width="${place(width)}" height="${place(height)}"/>`;
  if (width < READABLE || read === null) return bar;
  return markup`${bar}<text class="on-bar" x="${place(from + 5)}" y="${place(y + height / 2 + 4)}">${read}→${wrote ?? "nothing"}</text>`;
}

function rowsOf(lanes: readonly string[], spans: Spans, indices: readonly number[]): string[][] {
  const text = (value: number | null | undefined) => (value === null || value === undefined ? "–" : String(value));
  return indices.map((index) => [
    lanes[spans.lane[index] ?? 0] ?? "",
    ((spans.fromUs[index] ?? 0) / 1_000).toFixed(3),
    ((spans.lengthUs[index] ?? 0) / 1_000).toFixed(3),
    text(spans.readValue[index]),
    text(spans.writtenValue[index]),
    markText(spans.marks[index] ?? 0),
  ]);
}
