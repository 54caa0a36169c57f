import { type BetterIs, type Comparison, compareIntervals } from "@/lib/runs/comparison";
import type { RunDocument } from "@/lib/runs/document";
import { type MedianInterval, medianInterval } from "@/lib/runs/median-interval";
import type { CurvePoint } from "@/lib/runs/percentile-axis";
import { plural, settingText } from "./format";

/** Runs that were made alike are repeats of each other: one line in the table, one curve in the chart. */
export interface RunGroup {
  /** In the URL as the baseline; the strategy, and a number where there are several groups of it. */
  readonly key: string;
  readonly strategy: string;
  /** What tells it from the other groups of the same strategy; empty when it is the only one. */
  readonly apart: string;
  readonly runs: readonly RunFacts[];
  /** The only verdict, or null when the repeats disagree. */
  readonly verdict: RunDocument["verdict"] | null;
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

/** A wait is part of a purchase, and some strategies have none: it explains, and is no aim of its own. */
const BETTER_IS: Record<Metric, BetterIs | null> = {
  soldPerSecond: "higher",
  p50: "lower",
  p99: "lower",
  wait: null,
};

const VALUE_OF: Record<Metric, (run: RunDocument) => number | null> = {
  soldPerSecond: (run) => run.throughput.soldPerSecond,
  p50: (run) => run.latencyMs.p50,
  p99: (run) => run.latencyMs.p99,
  wait: (run) => run.phasesMs.wait.p50,
};

type Setting = readonly [name: string, words: string];

/** Everything that makes two runs different sales; the seed and the sweep do not. */
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
    ["waitLimit", `wait up to ${settingText(config.waitTimeoutMs)}`],
    ["fencing", config.fencing === false ? "fencing tokens unchecked" : "fencing tokens checked"],
    ["nodes", plural(config.nodes, "node")],
    ["engine", config.engine],
  ];
}

/** Equal for runs that are repeats of each other. */
export function repeatKey(run: RunDocument): string {
  return [run.strategy, ...settingsOf(run).map(([, words]) => words)].join("|");
}

/** The runs of the list that were made like its first one, with the same lab on the same machine. */
export function repeatsOfFirst(runs: readonly RunDocument[]): RunDocument[] {
  const [first] = runs;
  if (first === undefined) return [];
  return runs.filter((run) => repeatKey(run) === repeatKey(first) && environmentOf(run) === environmentOf(first));
}

function environmentOf({ versions, machine }: RunDocument): string {
  return `${versions.lab ?? ""} ${machine.cpuModel} ${machine.cpus}`;
}

/** Whether all were measured by the same lab on the same machine: else speed is not the strategy's alone. */
export function hasOneEnvironment(runs: readonly RunDocument[]): boolean {
  return new Set(runs.map(environmentOf)).size <= 1;
}

/** Groups finished runs, in the order in which they first appear. */
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
      apart:
        siblings.length === 1
          ? ""
          : differences(
              first,
              siblings.flatMap(([other]) => other ?? []),
            ),
      runs: repeats.map(({ id, verdict, startedAtEpochMs }) => ({ id, verdict, startedAtEpochMs })),
      verdict: repeats.every(({ verdict }) => verdict === first.verdict) ? first.verdict : null,
      oversold: medianInterval(repeats.map(({ violations }) => violations.oversold)),
      metrics: Object.fromEntries(
        METRICS.map((metric) => [metric, medianInterval(repeats.map(VALUE_OF[metric]))]),
      ) as RunGroup["metrics"],
      curve: curveOf(repeats),
    };
  });
}

/** The settings in which one of them is not like all the others. */
function differences(one: RunDocument, all: readonly RunDocument[]): string {
  const own = settingsOf(one);
  return own
    .filter(([name, words]) => all.some((other) => settingsOf(other).find(([known]) => known === name)?.[1] !== words))
    .map(([, words]) => words)
    .join(", ");
}

/** The settings that all runs share, in words. */
export function sharedSettings(runs: readonly RunDocument[]): string {
  const [first] = runs;
  if (first === undefined) return "";
  const shared = settingsOf(first).filter(([name, words]) =>
    runs.every((run) => settingsOf(run).find(([known]) => known === name)?.[1] === words),
  );
  // What is so unless one asks otherwise goes without saying.
  return shared
    .filter(([name]) => name !== "fencing" || first.config.fencing === false)
    .map(([, words]) => words)
    .join(", ")
    .replace(", of a ", " of a ");
}

export function baselineOf(groups: readonly RunGroup[], wanted: string | null): RunGroup | null {
  return groups.find(({ key }) => key === wanted) ?? groups[0] ?? null;
}

/** Null for the baseline itself, and for what is not compared. */
export function comparedWith(group: RunGroup, baseline: RunGroup | null, metric: Metric): Comparison | null {
  const betterIs = BETTER_IS[metric];
  if (baseline === null || group.key === baseline.key || betterIs === null) return null;
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
  // Repeats that disagree count as what the worst of them found.
  if (column === "verdict") return Math.min(...group.runs.map(({ verdict }) => VERDICT_RANK[verdict]));
  if (column === "oversold") return group.oversold?.median ?? null;
  return group.metrics[column]?.median ?? null;
}

/** Sorted by a column, what was not measured at the end whichever way; "strategy" is the order they came in. */
export function sortGroups(groups: readonly RunGroup[], { column, direction }: GroupSorting): RunGroup[] {
  const sign = direction === "ascending" ? 1 : -1;
  if (column === "strategy") return sign === 1 ? [...groups] : [...groups].reverse();
  return [...groups].sort((a, b) => {
    const [left, right] = [figureOf(a, column), figureOf(b, column)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return (left - right) * sign;
  });
}
