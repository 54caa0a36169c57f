import { decimals } from "./format";
/** View logic of the holder timeline: visible range, lanes, and the spans to draw out of up to 100,000. */

/** Microseconds since the run's first purchase. */
export interface TimeRange {
  readonly fromUs: number;
  readonly toUs: number;
}

/** Minimum length of the visible range. */
const MIN_RANGE_US = 20;

function ordered(fromUs: number, toUs: number): TimeRange {
  return { fromUs: Math.round(fromUs), toUs: Math.round(toUs) };
}

/** Moves and shrinks a range so that it lies within the run. */
export function clampRange({ fromUs, toUs }: TimeRange, endUs: number): TimeRange {
  const end = Math.max(endUs, MIN_RANGE_US);
  const length = Math.min(end, Math.max(MIN_RANGE_US, toUs - fromUs));
  const from = Math.min(Math.max(0, fromUs), end - length);
  return ordered(from, from + length);
}

/** Zooms around `atUs`, which keeps its position. A `factor` above 1 shows more time. */
export function zoomRange(range: TimeRange, zoom: { factor: number; atUs?: number }, endUs: number): TimeRange {
  const { fromUs, toUs } = range;
  const { factor, atUs = (fromUs + toUs) / 2 } = zoom;
  return clampRange({ fromUs: atUs - (atUs - fromUs) * factor, toUs: atUs + (toUs - atUs) * factor }, endUs);
}

/** Moves the range by a share of its length: 0.25 moves a quarter later. */
export function panRange(range: TimeRange, share: number, endUs: number): TimeRange {
  const by = (range.toUs - range.fromUs) * share;
  return clampRange({ fromUs: range.fromUs + by, toUs: range.toUs + by }, endUs);
}

const KEY_ZOOM = 0.6;
const KEY_PAN = 0.2;

/** The range after a key press; null if the timeline does not handle the key. */
export function rangeByKey(key: string, range: TimeRange, endUs: number): TimeRange | null {
  switch (key) {
    case "ArrowLeft":
      return panRange(range, -KEY_PAN, endUs);
    case "ArrowRight":
      return panRange(range, KEY_PAN, endUs);
    case "+":
    case "=":
      return zoomRange(range, { factor: KEY_ZOOM }, endUs);
    case "-":
    case "_":
      return zoomRange(range, { factor: 1 / KEY_ZOOM }, endUs);
    case "Home":
      return { fromUs: 0, toUs: Math.max(1, endUs) };
    default:
      return null;
  }
}

/** The range of these spans with a margin on both sides; null without spans. */
export function rangeAround(
  columns: Readonly<Record<"fromUs" | "lengthUs", ArrayLike<number>>>,
  indices: readonly number[],
  endUs: number,
): TimeRange | null {
  if (indices.length === 0) return null;
  const from = Math.min(...indices.map((index) => columns.fromUs[index] ?? 0));
  const to = Math.max(...indices.map((index) => (columns.fromUs[index] ?? 0) + (columns.lengthUs[index] ?? 0)));
  const margin = Math.max(MIN_RANGE_US * 10, (to - from) * 0.35);
  return clampRange({ fromUs: from - margin, toUs: to + margin }, endUs);
}

/** The timeline's columns, as typed arrays for the canvas. */
export interface Spans {
  readonly count: number;
  readonly lane: Uint8Array;
  readonly row: Uint16Array;
  readonly fromUs: Float64Array;
  readonly lengthUs: Float64Array;
  readonly marks: Uint8Array;
  readonly readValue: readonly (number | null)[];
  readonly writtenValue: readonly (number | null)[];
  readonly longestUs: number;
}

interface SpanLists {
  readonly lane: readonly number[];
  readonly row: readonly number[];
  readonly fromUs: readonly number[];
  readonly lengthUs: readonly number[];
  readonly marks: readonly number[];
  readonly readValue: readonly (number | null)[];
  readonly writtenValue: readonly (number | null)[];
}

export function toSpans(lists: SpanLists): Spans {
  let longestUs = 0;
  for (const length of lists.lengthUs) longestUs = Math.max(longestUs, length);
  return {
    count: lists.fromUs.length,
    lane: Uint8Array.from(lists.lane),
    row: Uint16Array.from(lists.row),
    fromUs: Float64Array.from(lists.fromUs),
    lengthUs: Float64Array.from(lists.lengthUs),
    marks: Uint8Array.from(lists.marks),
    readValue: lists.readValue,
    writtenValue: lists.writtenValue,
    longestUs,
  };
}

/** The first index whose value is at least `value`. */
function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Indices of up to `limit` spans that overlap the range, ordered by start. */
export function spansInView(spans: Spans, range: TimeRange, limit = Infinity): number[] {
  const found: number[] = [];
  for (let index = lowerBound(spans.fromUs, range.fromUs - spans.longestUs); index < spans.count; index += 1) {
    const from = spans.fromUs[index] ?? 0;
    if (from > range.toUs || found.length >= limit) break;
    if (from + (spans.lengthUs[index] ?? 0) >= range.fromUs) found.push(index);
  }
  return found;
}

/** Number of concurrent holders per pixel column of a lane, drawn if there are too many bars. */
export interface Density {
  readonly all: Float32Array;
  readonly marked: Float32Array;
}

export function densityOf(spans: Spans, view: { range: TimeRange; width: number; laneCount: number }): Density[] {
  const { range, width, laneCount } = view;
  const changes = Array.from({ length: laneCount }, () => ({
    all: new Float32Array(width + 1),
    marked: new Float32Array(width + 1),
  }));
  const perUs = width / (range.toUs - range.fromUs);
  const start = lowerBound(spans.fromUs, range.fromUs - spans.longestUs);
  for (let index = start; index < spans.count; index += 1) {
    const from = spans.fromUs[index] ?? 0;
    if (from > range.toUs) break;
    const to = from + (spans.lengthUs[index] ?? 0);
    if (to < range.fromUs) continue;
    const left = Math.max(0, Math.min(width - 1, Math.floor((from - range.fromUs) * perUs)));
    // A span covers at least one column.
    const right = Math.max(left + 1, Math.min(width, Math.ceil((to - range.fromUs) * perUs)));
    const lane = changes[spans.lane[index] ?? 0];
    if (!lane) continue;
    add(lane.all, left, right);
    if ((spans.marks[index] ?? 0) & ALARM_MARKS) add(lane.marked, left, right);
  }
  for (const { all, marked } of changes) {
    accumulate(all);
    accumulate(marked);
  }
  return changes;
}

/** Overlaps, stale writes and lost updates; excludes overlaps that fencing made harmless. */
export const ALARM_MARKS = 1 | 2 | 4;

const MARK_TEXT: readonly (readonly [mark: number, word: string])[] = [
  [1, "overlap"],
  [2, "stale write"],
  [4, "lost update"],
  [8, "harmless overlap"],
];

export function markText(marks: number): string {
  return MARK_TEXT.filter(([mark]) => marks & mark)
    .map(([, word]) => word)
    .join(", ");
}

function add(changes: Float32Array, left: number, right: number): void {
  changes[left] = (changes[left] ?? 0) + 1;
  changes[right] = (changes[right] ?? 0) - 1;
}

function accumulate(changes: Float32Array): void {
  for (let at = 1; at < changes.length; at += 1) changes[at] = (changes[at] ?? 0) + (changes[at - 1] ?? 0);
}

export interface LaneBox {
  readonly top: number;
  readonly height: number;
  readonly rowHeight: number;
}

const LANE_GAP_PX = 10;
const MIN_LANE_PX = 36;
const MAX_LANE_PX = 76;
const ROW_PX = 14;

/** Stacks the lanes below `headPx`. A lane is as high as its rows need, up to a limit that keeps all lanes visible. */
export function laneBoxes(depths: readonly number[], headPx = 0): { boxes: LaneBox[]; height: number } {
  let top = headPx + LANE_GAP_PX / 2;
  const boxes = depths.map((depth) => {
    const height = Math.min(MAX_LANE_PX, Math.max(MIN_LANE_PX, depth * ROW_PX));
    const box = { top, height, rowHeight: height / Math.max(1, depth) };
    top += height + LANE_GAP_PX;
    return box;
  });
  return { boxes, height: top - LANE_GAP_PX / 2 };
}

export interface Tick {
  readonly atUs: number;
  readonly text: string;
}

/** At most `maxTicks` ticks at round times, in seconds for a long range, else in milliseconds. */
export function ticksIn({ fromUs, toUs }: TimeRange, maxTicks: number): { ticks: Tick[]; unit: "s" | "ms" } {
  const rough = (toUs - fromUs) / Math.max(1, maxTicks);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  const unit = step >= 100_000 ? "s" : "ms";
  const perUnit = unit === "s" ? 1_000_000 : 1_000;
  const digits = Math.max(0, Math.ceil(-Math.log10(step / perUnit) - 1e-9));
  const ticks: Tick[] = [];
  for (let at = Math.ceil(fromUs / step) * step; at <= toUs; at += step) {
    ticks.push({ atUs: at, text: decimals(at / perUnit, digits) });
  }
  return { ticks, unit };
}

/** "0.400 s to 0.440 s" */
export function rangeText({ fromUs, toUs }: TimeRange): string {
  const digits = toUs - fromUs < 5_000 ? 4 : 3;
  const words = (us: number) => `${decimals(us / 1_000_000, digits)} s`;
  return `${words(fromUs)} to ${words(toUs)}`;
}
