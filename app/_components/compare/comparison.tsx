"use client";

import { useMemo, useState } from "react";
import { LabLink } from "@/app/_components/ui/lab-link";
import { baselineOf, type GroupSorting, type RunGroup } from "@/app/_lib/compare-groups";
import type { CompareModel } from "@/app/_lib/compare-model";
import { compareHref, type Selection } from "@/app/_lib/compare-selection";
import { plural } from "@/app/_lib/format";
import { chanceOfSeparateRanges, FEWEST_RUNS } from "@/lib/runs/comparison";
import { PercentileCurve } from "../chart/percentile-curve";
import styles from "./comparison.module.css";
import { GroupsTable } from "./groups-table";

function labelOf({ strategy, difference, isRanked, verdict }: RunGroup): string {
  const named = difference === "" ? strategy : `${strategy}, ${difference}`;
  return isRanked ? named : `${named} (${verdict ?? "not always safe"})`;
}

const CURVE_TITLES: Record<CompareModel["curveSource"], string> = {
  nodes: "Latency by percentile, inside the nodes",
  buyers: "Latency by percentile, as the buyers saw it",
};

interface ComparisonProps {
  readonly model: CompareModel;
  readonly selection: Selection;
}

/** The selected runs: latency curves in one chart, then medians compared with a baseline. */
export function Comparison({ model, selection }: ComparisonProps) {
  const { groups } = model;
  const [base, setBase] = useState(selection.base);
  const [sorting, setSorting] = useState<GroupSorting>({ column: "strategy", direction: "ascending" });
  const curves = useMemo(
    () => groups.map((group) => ({ id: group.key, label: labelOf(group), points: group.curve })),
    [groups],
  );
  if (groups.length === 0) return <Missing model={model} />;
  const baseline = baselineOf(groups, base);
  const ranked = groups.filter(({ isRanked }) => isRanked);
  const choose = (key: string) => {
    setBase(key);
    window.history.replaceState(null, "", compareHref({ ...selection, base: key }));
  };
  return (
    <section className={styles.comparison} aria-label="Side by side" data-testid="comparison">
      <Missing model={model} />
      {model.hasOneEnvironment ? null : (
        <p className={styles.caution}>
          These runs come from different versions of the lab or different machines, so a difference in speed may not
          come from the strategy.
        </p>
      )}
      <PercentileCurve title={CURVE_TITLES[model.curveSource]} curves={curves} height={300} />
      <div className={styles.head}>
        <h2>Medians of the repeats</h2>
        {baseline === null || ranked.length < 2 ? null : (
          <label className={styles.base}>
            Compared with{" "}
            <select value={baseline.key} onChange={(event) => choose(event.target.value)}>
              {ranked.map((group) => (
                <option key={group.key} value={group.key}>
                  {labelOf(group)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <GroupsTable groups={groups} baseline={baseline} sorting={sorting} onSort={setSorting} />
      <HowToRead groups={groups} shared={model.shared} />
    </section>
  );
}

function HowToRead({ groups, shared }: { groups: readonly RunGroup[]; shared: string }) {
  const fewest = Math.min(...groups.map(({ runs }) => runs.length));
  const oneIn = Math.round(1 / chanceOfSeparateRanges(fewest, fewest));
  return (
    <p className={styles.note}>
      All runs used {shared}. Below each median is{" "}
      {fewest < 6
        ? "the range of its runs, because fewer than six runs are not enough for a 95 % confidence interval"
        : "its 95 % confidence interval"}
      . The table claims a difference only if two intervals do not overlap
      {fewest < FEWEST_RUNS
        ? ` and each group has at least ${plural(FEWEST_RUNS, "run")}. To repeat runs: npm run lab -- sweep --repeats 5.`
        : `. With ${plural(fewest, "run")} each, two equal strategies appear different in 1 of ${oneIn} comparisons.`}
    </p>
  );
}

function Missing({ model: { missing, groups, sweep } }: { model: CompareModel }) {
  if (missing.length > 0) {
    return (
      <p className={styles.caution}>
        Not shown, because the run does not exist or has not finished: {missing.join(", ")}.
      </p>
    );
  }
  if (groups.length > 0) return null;
  return (
    <p className={styles.caution}>
      {sweep === null ? (
        <>
          The selection has no finished run. <LabLink href="/compare">Change the selection</LabLink>.
        </>
      ) : (
        "The first run of this sweep has not finished yet."
      )}
    </p>
  );
}
