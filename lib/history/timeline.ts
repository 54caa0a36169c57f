import { lateWritesIn } from "./checkers/lost-updates";
import { checkOverlappingHolds, overlapsIn } from "./checkers/overlapping-holds";
import { staleWritesIn } from "./checkers/stale-writes";
import type { History, HistoryStage } from "./history";
import { lastSeenNs } from "./intervals";
import { memoize } from "./memoize";
import type { Operation } from "./operation";
import { packRows } from "./pack-rows";

/** Reasons why a span is marked, as bits: a span can have several. */
export const SPAN_MARKS = { overlap: 1, staleWrite: 2, lostUpdate: 4, fencedOverlap: 8 } as const;

/** One purchase's critical section: from grant to release or, without a lock, from read to commit. */
export interface Span {
  readonly op: Operation;
  readonly fromNs: number;
  readonly toNs: number;
}

/**
 * Critical sections over time, with one lane per node. Columns: an index is one purchase. Times are microseconds since
 * the first request on the same host.
 */
export interface Timeline {
  readonly lanes: readonly string[];
  /** For each lane, the largest number of critical sections at the same time. */
  readonly depths: readonly number[];
  /** False if no grant was recorded: the spans then run from read to commit. */
  readonly hasHolds: boolean;
  readonly endUs: number;
  readonly spans: SpanColumns;
}

/** Sorted by start. */
export interface SpanColumns {
  readonly lane: readonly number[];
  /** The row within the lane: spans that overlap have different rows. */
  readonly row: readonly number[];
  readonly fromUs: readonly number[];
  readonly lengthUs: readonly number[];
  readonly readValue: readonly (number | null)[];
  readonly writtenValue: readonly (number | null)[];
  /** Bits of `SPAN_MARKS`. */
  readonly marks: readonly number[];
}

/** `indexOf` maps an opId to its index in the columns. O(n log n). */
export function timelineOf(history: History): { timeline: Timeline; indexOf: ReadonlyMap<string, number> } {
  const hasHolds = history.ops.some(({ grantedNs }) => grantedNs !== undefined);
  const { spans, originNs } = placedSpans(history);
  const { lanes, lane, rows, depths } = packedSpans(history);
  const marks = marksIn(history);
  const columns: SpanColumns = {
    lane,
    row: rows,
    fromUs: spans.map(({ afterNs }) => micros(afterNs)),
    lengthUs: spans.map(({ fromNs, toNs }) => micros(toNs - fromNs)),
    readValue: spans.map(({ op }) => op.readValue ?? null),
    writtenValue: spans.map(({ op }) => op.writtenValue ?? null),
    marks: spans.map(({ op }) => marks.get(op) ?? 0),
  };
  const endNs = history.ops.reduce((end, op) => Math.max(end, lastSeenNs(op) - originNs(op)), 0);
  return {
    timeline: { lanes, depths, hasHolds, endUs: micros(endNs), spans: columns },
    indexOf: new Map(spans.map(({ op }, index) => [op.opId, index])),
  };
}

/** The spans that overlap or touch the range from `fromUs` to `toUs`. O(n). */
export function spansWithin({ spans }: Timeline, fromUs: number, toUs: number): SpanColumns {
  const kept = [...spans.fromUs.keys()].filter((index) => {
    const from = spans.fromUs[index] ?? 0;
    return from <= toUs && from + (spans.lengthUs[index] ?? 0) >= fromUs;
  });
  const pick = <T>(column: readonly T[]) => kept.map((index) => column[index] as T);
  return {
    lane: pick(spans.lane),
    row: pick(spans.row),
    fromUs: pick(spans.fromUs),
    lengthUs: pick(spans.lengthUs),
    readValue: pick(spans.readValue),
    writtenValue: pick(spans.writtenValue),
    marks: pick(spans.marks),
  };
}

/**
 * The first request of each host. Offsets between clocks are unknown, so each host's time starts at its first request.
 */
export function firstInvocations(ops: readonly Operation[]): ReadonlyMap<string, number> {
  const firsts = new Map<string, number>();
  for (const { host, invokedNs } of ops) firsts.set(host, Math.min(firsts.get(host) ?? Infinity, invokedNs));
  return firsts;
}

function micros(ns: number): number {
  return Math.round(ns / 1_000);
}

function byName(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

interface PlacedSpan extends Span {
  /** Time since the first request of its host. */
  readonly afterNs: number;
}

const placedSpans = memoize((history: History) => {
  const firsts = firstInvocations(history.ops);
  const originNs = ({ host }: Operation) => firsts.get(host) ?? 0;
  const spans: PlacedSpan[] = [];
  for (const op of history.ops) {
    const span = spanOf(op);
    if (span) spans.push({ op, fromNs: span.fromNs, toNs: span.toNs, afterNs: span.fromNs - originNs(op) });
  }
  spans.sort((a, b) => a.afterNs - b.afterNs || a.toNs - b.toNs);
  return { spans, originNs };
});

function spanOf(op: Operation): Span | null {
  if (op.grantedNs !== undefined) {
    const end = op.releasedNs ?? op.answeredNs ?? lastSeenNs(op);
    return { op, fromNs: op.grantedNs, toNs: Math.max(op.grantedNs, Math.min(end, op.leaseLostNs ?? end)) };
  }
  const fromNs = op.readNs ?? op.writeNs;
  if (fromNs === undefined) return null;
  // A retried conditional write can record a read that is later than the previous attempt's write.
  return { op, fromNs, toNs: Math.max(fromNs, op.committedNs ?? op.answeredNs ?? lastSeenNs(op)) };
}

const marksIn = memoize((history: History): ReadonlyMap<Operation, number> => {
  const marks = new Map<Operation, number>();
  const add = (op: Operation, mark: number) => marks.set(op, (marks.get(op) ?? 0) | mark);
  const { overlap, fencedOverlap, staleWrite, lostUpdate } = SPAN_MARKS;
  const overlapMark = checkOverlappingHolds(history).count > 0 ? overlap : fencedOverlap;
  for (const { first, second } of overlapsIn(history)) for (const op of [first, second]) add(op, overlapMark);
  for (const { op } of staleWritesIn(history)) add(op, staleWrite);
  for (const { late, undone } of lateWritesIn(history)) for (const op of [late, ...undone]) add(op, lostUpdate);
  return marks;
});

const packedSpans = memoize((history: History) => {
  const { spans } = placedSpans(history);
  const lanes = [...new Set(history.ops.map(({ node }) => node))].sort(byName);
  const laneOf = new Map(lanes.map((node, index) => [node, index]));
  const lane = spans.map(({ op }) => laneOf.get(op.node) ?? 0);
  return { lanes, lane, ...packRows(spans, lane, lanes.length) };
});

/** All work of `timelineOf`. The results are memoized, so it returns at once after a caller has run these. */
export const TIMELINE_STAGES: readonly HistoryStage[] = [marksIn, placedSpans, packedSpans];
