import { lostUpdatesIn } from "./checkers/lost-updates";
import { checkOverlappingHolds, overlapsIn } from "./checkers/overlapping-holds";
import { staleWritesIn } from "./checkers/stale-writes";
import type { History } from "./history";
import { lastSeenNs } from "./intervals";
import { memoize } from "./memoize";
import type { Operation } from "./operation";
import { packRows } from "./pack-rows";

/** Why a span is marked; a span may have several of them. */
export const SPAN_MARKS = { overlap: 1, staleWrite: 2, lostUpdate: 4, fencedOverlap: 8 } as const;

/** A time that one purchase spent inside: between grant and release, or, without a lock, between read and commit. */
export interface Span {
  readonly op: Operation;
  readonly fromNs: number;
  readonly toNs: number;
}

/**
 * Who was inside when, one lane a node, as columns: an index is one purchase. Times are microseconds since the run's
 * first purchase was asked for, by the clock of the node's host.
 */
export interface Timeline {
  readonly lanes: readonly string[];
  /** For each lane, how many were inside at once at most. */
  readonly depths: readonly number[];
  /** Whether anything was granted; false: the spans run from read to commit. */
  readonly hasHolds: boolean;
  readonly endUs: number;
  readonly spans: SpanColumns;
}

/** In the order of their beginnings. */
export interface SpanColumns {
  readonly lane: readonly number[];
  /** Within the lane, so that no two that overlap share one. */
  readonly row: readonly number[];
  readonly fromUs: readonly number[];
  readonly lengthUs: readonly number[];
  readonly readValue: readonly (number | null)[];
  readonly writtenValue: readonly (number | null)[];
  /** `SPAN_MARKS`, added up. */
  readonly marks: readonly number[];
}

/** O(n log n). `indexOf` finds the column of an operation again. */
export function timelineOf(history: History): { timeline: Timeline; indexOf: ReadonlyMap<string, number> } {
  const hasHolds = history.ops.some(({ grantedNs }) => grantedNs !== undefined);
  const { spans, zero } = placedSpans(history);
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
  const endNs = history.ops.reduce((end, op) => Math.max(end, lastSeenNs(op) - zero(op)), 0);
  return {
    timeline: { lanes, depths, hasHolds, endUs: micros(endNs), spans: columns },
    indexOf: new Map(spans.map(({ op }, index) => [op.opId, index])),
  };
}

/** The spans that are inside at any time from `fromUs` to `toUs`. O(n). */
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

/** Hosts' clocks differ by nothing that means anything: each starts with its first purchase. */
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
  /** Since the first purchase of its host. */
  readonly afterNs: number;
}

const placedSpans = memoize((history: History) => {
  const zeros = firstInvocations(history.ops);
  const zero = ({ host }: Operation) => zeros.get(host) ?? 0;
  const spans: PlacedSpan[] = [];
  for (const op of history.ops) {
    const span = spanOf(op);
    if (span) spans.push({ op, fromNs: span.fromNs, toNs: span.toNs, afterNs: span.fromNs - zero(op) });
  }
  spans.sort((a, b) => a.afterNs - b.afterNs || a.toNs - b.toNs);
  return { spans, zero };
});

function spanOf(op: Operation): Span | null {
  if (op.grantedNs !== undefined) {
    const end = op.releasedNs ?? op.answeredNs ?? lastSeenNs(op);
    return { op, fromNs: op.grantedNs, toNs: Math.max(op.grantedNs, Math.min(end, op.leaseLostNs ?? end)) };
  }
  const fromNs = op.readNs ?? op.writeNs;
  if (fromNs === undefined) return null;
  // A conditional write that is tried again may record a read that is later than the write before it.
  return { op, fromNs, toNs: Math.max(fromNs, op.committedNs ?? op.answeredNs ?? lastSeenNs(op)) };
}

const marksIn = memoize((history: History): ReadonlyMap<Operation, number> => {
  const marks = new Map<Operation, number>();
  const add = (op: Operation, mark: number) => marks.set(op, (marks.get(op) ?? 0) | mark);
  const { overlap, fencedOverlap, staleWrite, lostUpdate } = SPAN_MARKS;
  const overlapMark = checkOverlappingHolds(history).count > 0 ? overlap : fencedOverlap;
  for (const { first, second } of overlapsIn(history)) for (const op of [first, second]) add(op, overlapMark);
  for (const { op } of staleWritesIn(history)) add(op, staleWrite);
  for (const { first, second } of lostUpdatesIn(history)) for (const op of [first, second]) add(op, lostUpdate);
  return marks;
});

const packedSpans = memoize((history: History) => {
  const { spans } = placedSpans(history);
  const lanes = [...new Set(history.ops.map(({ node }) => node))].sort(byName);
  const laneOf = new Map(lanes.map((node, index) => [node, index]));
  const lane = spans.map(({ op }) => laneOf.get(op.node) ?? 0);
  return { lanes, lane, ...packRows(spans, lane, lanes.length) };
});

/** What a timeline is made of, in parts that can be asked one by one beforehand. */
export const TIMELINE_STAGES: readonly ((history: History) => unknown)[] = [marksIn, placedSpans, packedSpans];
