import { type BetterIs, type Comparison, compareIntervals, isRanked } from "@/lib/runs/comparison";
import type { RunDocument } from "@/lib/runs/document";
import { type MedianInterval, medianInterval } from "@/lib/runs/median-interval";
import type { CurvePoint } from "@/lib/runs/percentile-axis";
import { buyersLatencyOf } from "./buyers-latency";
import { plural, settingText } from "./format";
import { verdictText } from "./verdict";

/** Repeats: runs of one strategy with the same settings. One row in the table and one curve in the chart. */
export interface RunGroup {
  /** Identifies the group in the URL: the strategy, plus a number if it has several groups. */
  readonly key: string;
  readonly strategy: string;
  /** The settings that differ from other groups of the strategy; empty if it is the only group. */
  readonly difference: string;
  readonly runs: readonly RunFacts[];
  /** The common verdict; null if the repeats disagree. */
  readonly verdict: RunDocument["verdict"] | null;
  /** Whether all repeats are safe; only then is their speed compared. */
  readonly isRanked: boolean;
  /** Why the group is not ranked: the main sentence of its worst verdict. Null if it is ranked. */
  readonly why: string | null;
  readonly oversold: MedianInterval | null;
  readonly metrics: Readonly<Record<Metric, MedianInterval | null>>;
  readonly curve: readonly CurvePoint[];
}

export interface RunFacts {
  readonly id: string;
  readonly verdict: RunDocument["verdict"];
  readonly startedAtEpochMs: number;
}

export const METRICS = ["soldPerSecond", "p50", "p99", "wait"] as const;
export type Metric = (typeof METRICS)[number];

/** Null: not compared. Wait time is part of the latency, and some strategies have none. */
const BETTER_IS: Record<Metric, BetterIs | null> = {
  soldPerSecond: "higher",
  p50: "lower",
  p99: "lower",
  wait: null,
};

const VALUE_OF: Record<Metric, (run: RunDocument) => number | null> = {
  soldPerSecond: (run) => run.throughput.soldPerSecond,
  p50: (run) => buyersLatencyOf(run)?.p50 ?? null,
  p99: (run) => buyersLatencyOf(run)?.p99 ?? null,
  wait: (run) => run.phasesMs.wait.p50,
};

type Setting = readonly [name: string, words: string];

/** The settings in which repeats must agree; seed and sweep may differ. */
function settingsOf({ target, config }: RunDocument): readonly Setting[] {
  const load =
    config.rate === null
      ? plural(config.vus ?? 0, "buyer")
      : `${plural(config.rate, "buyer")}/s for ${settingText(config.durationMs ?? 0)}`;
  return [
    ["stock", plural(config.stock, "unit")],
    ["target", `of a ${target.kind}`],
    ["load", load],
    ["hold", `hold ${settingText(config.holdMs)}`],
    ["lease", `lease ${settingText(config.ttlMs)}`],
    ["waitTimeout", `wait up to ${settingText(config.waitTimeoutMs)}`],
    ["fencing", config.fencing === false ? "fencing tokens unchecked" : "fencing tokens checked"],
    ["nodes", plural(config.nodes, "node")],
    ["engine", config.engine],
  ];
}

/** Equal for runs that are repeats of each other. */
export function repeatKey(run: RunDocument): string {
  return [run.strategy, ...settingsOf(run).map(([, words]) => words)].join("|");
}

/** The runs with the settings, lab version and machine of the first run. */
export function repeatsOfFirst(runs: readonly RunDocument[]): RunDocument[] {
  const [first] = runs;
  if (first === undefined) return [];
  return runs.filter((run) => repeatKey(run) === repeatKey(first) && environmentOf(run) === environmentOf(first));
}

function environmentOf({ versions, machine }: RunDocument): string {
  return `${versions.lab ?? ""} ${machine.cpuModel} ${machine.cpus}`;
}

/** Whether all runs come from one lab version on one machine; otherwise speed does not depend on the strategy alone. */
export function hasOneEnvironment(runs: readonly RunDocument[]): boolean {
  return new Set(runs.map(environmentOf)).size <= 1;
}

/** Groups finished runs, in order of first appearance. */
export function groupRuns(
  runs: readonly RunDocument[],
  curveOf: (repeats: readonly RunDocument[]) => readonly CurvePoint[],
): RunGroup[] {
  const byKey = new Map<string, RunDocument[]>();
  for (const run of runs) {
    if (run.status !== "finished") continue;
    byKey.set(repeatKey(run), [...(byKey.get(repeatKey(run)) ?? []), run]);
  }
  const groups = [...byKey.values()];
  const numbers = new Map<string, number>();
  return groups.map((repeats) => {
    const [first] = repeats as [RunDocument, ...RunDocument[]];
    const siblings = groups.filter(([other]) => other?.strategy === first.strategy);
    const number = (numbers.get(first.strategy) ?? 0) + 1;
    numbers.set(first.strategy, number);
    return {
      key: number === 1 ? first.strategy : `${first.strategy}-${number}`,
      strategy: first.strategy,
      difference:
        siblings.length === 1
          ? ""
          : differences(
              first,
              siblings.flatMap(([other]) => other ?? []),
            ),
      runs: repeats.map(({ id, verdict, startedAtEpochMs }) => ({ id, verdict, startedAtEpochMs })),
      verdict: repeats.every(({ verdict }) => verdict === first.verdict) ? first.verdict : null,
      isRanked: repeats.every(isRanked),
      why: whyUnranked(repeats),
      oversold: medianInterval(repeats.map(({ violations }) => violations.oversold)),
      metrics: Object.fromEntries(
        METRICS.map((metric) => [metric, medianInterval(repeats.map(VALUE_OF[metric]))]),
      ) as RunGroup["metrics"],
      curve: curveOf(repeats),
    };
  });
}

function whyUnranked(repeats: readonly RunDocument[]): string | null {
  const [worst] = [...repeats].sort((a, b) => VERDICT_RANK[a.verdict] - VERDICT_RANK[b.verdict]);
  return worst === undefined || isRanked(worst) ? null : verdictText(worst).lead;
}

/** The settings of one run that at least one other run does not share. */
function differences(one: RunDocument, all: readonly RunDocument[]): string {
  const own = settingsOf(one);
  return own
    .filter(([name, words]) => all.some((other) => settingsOf(other).find(([known]) => known === name)?.[1] !== words))
    .map(([, words]) => words)
    .join(", ");
}

/** The settings that all runs share, as text. */
export function sharedSettings(runs: readonly RunDocument[]): string {
  const [first] = runs;
  if (first === undefined) return "";
  const shared = settingsOf(first).filter(([name, words]) =>
    runs.every((run) => settingsOf(run).find(([known]) => known === name)?.[1] === words),
  );
  // Checked fencing tokens are the default, so the text omits them.
  return shared
    .filter(([name]) => name !== "fencing" || first.config.fencing === false)
    .map(([, words]) => words)
    .join(", ")
    .replace(", of a ", " of a ");
}

/** The wanted group if it is ranked, else the first ranked group. */
export function baselineOf(groups: readonly RunGroup[], wanted: string | null): RunGroup | null {
  const ranked = groups.filter((group) => group.isRanked);
  return ranked.find(({ key }) => key === wanted) ?? ranked[0] ?? null;
}

/** Null for the baseline itself, for groups that are not ranked, and for a metric that is not compared. */
export function comparedWith(group: RunGroup, baseline: RunGroup | null, metric: Metric): Comparison | null {
  const betterIs = BETTER_IS[metric];
  if (betterIs === null || baseline === null || group.key === baseline.key) return null;
  if (!group.isRanked || !baseline.isRanked) return null;
  return compareIntervals(group.metrics[metric], baseline.metrics[metric], betterIs);
}

export type GroupColumn = "strategy" | "runs" | "verdict" | "oversold" | Metric;

export interface GroupSorting {
  readonly column: GroupColumn;
  readonly direction: "ascending" | "descending";
}

const VERDICT_RANK = { unsafe: 0, inconclusive: 1, safe: 2 } as const;

function figureOf(group: RunGroup, column: Exclude<GroupColumn, "strategy">): number | null {
  if (column === "runs") return group.runs.length;
  // Repeats that disagree sort by their worst verdict.
  if (column === "verdict") return Math.min(...group.runs.map(({ verdict }) => VERDICT_RANK[verdict]));
  if (column === "oversold") return group.oversold?.median ?? null;
  return group.metrics[column]?.median ?? null;
}

/** Sorts the ranked groups by a column, then the others, which keep their order if the column is a speed. */
export function sortGroups(groups: readonly RunGroup[], sorting: GroupSorting): RunGroup[] {
  const ranked = groups.filter((group) => group.isRanked);
  const unranked = groups.filter((group) => !group.isRanked);
  const isSpeed = METRICS.some((metric) => metric === sorting.column);
  return [...sortPart(ranked, sorting), ...(isSpeed ? unranked : sortPart(unranked, sorting))];
}

/** Groups without a value come last in both directions. "strategy" keeps the given order. */
function sortPart(groups: readonly RunGroup[], { column, direction }: GroupSorting): RunGroup[] {
  const sign = direction === "ascending" ? 1 : -1;
  if (column === "strategy") return sign === 1 ? [...groups] : [...groups].reverse();
  return [...groups].sort((a, b) => {
    const [left, right] = [figureOf(a, column), figureOf(b, column)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return (left - right) * sign;
  });
}
