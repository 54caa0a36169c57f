import type { InterleavingStep } from "@/lib/history/merge-steps";
import type { LaneSegment, StoryLane } from "@/lib/history/story-lanes";
import type { RunStory } from "@/lib/runs/evidence";
import { decimals } from "../format";
import type { ReplayData } from "./replay-player";

/** A story on the axis of its replay, for the page and for the exported file. */
export interface Replay {
  readonly lanes: readonly ReplayLane[];
  readonly data: ReplayData;
}

export interface ReplayLane {
  readonly kind: StoryLane["kind"];
  readonly name: string;
  readonly bars: readonly ReplayBar[];
}

/** Places are percentages of the axis. */
export interface ReplayBar {
  readonly left: number;
  readonly width: number;
  readonly state: LaneSegment["state"];
  readonly text: string;
}

/** Length of a step in the replay: at least this, and this much more for each power of ten of milliseconds that it took. */
const STEP_MS = 450;

/** Null if no step was recorded. */
export function replayOf({ interleaving, lanes, fromUs }: RunStory): Replay | null {
  const { steps, actors } = interleaving;
  const shown = steps.filter(({ isDetail }) => !isDetail);
  if (shown.length < 2) return null;
  const { places, weight } = axisOf(shown);
  const nodeOf = new Map(actors.map(({ opId, node }) => [opId, node]));
  const atMs = shown.map(({ afterNs }) => fromUs / 1_000 + afterNs / 1e6);
  const times = shown.map(({ afterNs }) => runTimeText(fromUs, afterNs));
  return {
    lanes: lanes.map(({ kind, name, segments }) => ({
      kind,
      name,
      bars: segments.map((one) => barOf(one, shown, places)),
    })),
    data: {
      places,
      atMs,
      times: times.map((time) => `${time} s`),
      texts: shown.map(({ opId, text }, index) => `${times[index]} s: ${nodeOf.get(opId ?? "") ?? ""} ${text}`),
      states: shown.map((_, index) => lanes.map(({ states }) => states[index] ?? "")),
      durationMs: weight * STEP_MS,
    },
  };
}

/** Seconds since the run's first purchase, to the microsecond. */
export function runTimeText(fromUs: number, afterNs: number): string {
  return decimals((fromUs + afterNs / 1_000) / 1_000_000, 6);
}

/**
 * Where each step is on the axis, from 0 to 1. A lease lasts seconds and a write less than a millisecond, so the distance of
 * two steps grows with the logarithm of the time between them.
 */
function axisOf(steps: readonly InterleavingStep[]): { places: number[]; weight: number } {
  const sums = [0];
  for (const [index, { afterNs }] of steps.entries()) {
    if (index === 0) continue;
    const gapMs = (afterNs - (steps[index - 1]?.afterNs ?? 0)) / 1e6;
    sums.push((sums.at(-1) ?? 0) + 1 + Math.log10(1 + gapMs));
  }
  const weight = sums.at(-1) ?? 1;
  return { places: sums.map((sum) => sum / weight), weight };
}

/** The place of a time between the steps, linear from one step to the next. */
function placeOf(ns: number, steps: readonly InterleavingStep[], places: readonly number[]): number {
  const next = steps.findIndex(({ afterNs }) => afterNs > ns);
  if (next === -1) return 1;
  const [from, to] = [steps[next - 1]?.afterNs ?? 0, steps[next]?.afterNs ?? 0];
  const [left, right] = [places[next - 1] ?? 0, places[next] ?? 0];
  return next === 0 ? 0 : left + ((ns - from) / (to - from)) * (right - left);
}

function barOf(
  { fromNs, toNs, state, text }: LaneSegment,
  steps: readonly InterleavingStep[],
  places: readonly number[],
) {
  const percent = (place: number) => Math.round(place * 10_000) / 100;
  const left = placeOf(fromNs, steps, places);
  return { left: percent(left), width: percent(placeOf(toNs, steps, places) - left), state, text };
}

/** The keys of the lanes: the first of the states is the one drawn. */
export const LANE_KEYS: readonly { readonly states: readonly LaneSegment["state"][]; readonly text: string }[] = [
  { states: ["holds", "held"], text: "has the lock" },
  { states: ["waits"], text: "waits" },
  { states: ["stopped"], text: "stopped" },
  { states: ["expired"], text: "works after its lease expired" },
  { states: ["others"], text: "other purchases" },
  { states: ["rises"], text: "the stock rises: a sale was undone" },
];
