"use client";

import { useMemo, useState } from "react";
import { LabLink } from "@/app/_components/ui/lab-link";
import { baselineOf, type GroupSorting, type RunGroup } from "@/app/_lib/compare-groups";
import type { CompareModel } from "@/app/_lib/compare-model";
import { compareHref, type Selection } from "@/app/_lib/compare-selection";
import { plural } from "@/app/_lib/format";
import { chanceOfLyingApart, FEWEST_RUNS } from "@/lib/runs/comparison";
import { PercentileCurve } from "../chart/percentile-curve";
import styles from "./comparison.module.css";
import { GroupsTable } from "./groups-table";

function labelOf({ strategy, apart }: RunGroup): string {
  return apart === "" ? strategy : `${strategy}, ${apart}`;
}

interface ComparisonProps {
  readonly model: CompareModel;
  readonly selection: Selection;
}

/** What was picked, side by side: the curves over each other, then medians beside a baseline. */
export function Comparison({ model, selection }: ComparisonProps) {
  const { groups, hasWholeCurves } = model;
  const [base, setBase] = useState(selection.base);
  const [sorting, setSorting] = useState<GroupSorting>({ column: "strategy", direction: "ascending" });
  const curves = useMemo(
    () => groups.map((group) => ({ id: group.key, label: labelOf(group), points: group.curve })),
    [groups],
  );
  const baseline = baselineOf(groups, base);
  if (baseline === null) return <Missing model={model} />;
  const choose = (key: string) => {
    setBase(key);
    window.history.replaceState(null, "", compareHref({ ...selection, base: key }));
  };
  return (
    <section className={styles.comparison} aria-label="Side by side" data-testid="comparison">
      <Missing model={model} />
      {model.hasOneEnvironment ? null : (
        <p className={styles.caution}>
          Not all of these runs were made by the same version of the lab on the same machine; speed is not the
          strategy's alone.
        </p>
      )}
      <PercentileCurve
        title={
          hasWholeCurves ? "Latency by percentile, inside the nodes" : "Latency by percentile, as the buyers saw it"
        }
        curves={curves}
        height={300}
      />
      <div className={styles.head}>
        <h2>Medians of the repeats</h2>
        {groups.length < 2 ? null : (
          <label className={styles.base}>
            Compared with{" "}
            <select value={baseline.key} onChange={(event) => choose(event.target.value)}>
              {groups.map((group) => (
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
  const oneIn = Math.round(1 / chanceOfLyingApart(fewest, fewest));
  return (
    <p className={styles.note}>
      All with {shared}. Under each median stands the interval that holds the true one
      {fewest < 6 ? ", here the whole range, since fewer than six runs allow no narrower one at 95 %" : " at 95 %"}. A
      difference is claimed only where two intervals lie apart
      {fewest < FEWEST_RUNS
        ? `, and only from ${plural(FEWEST_RUNS, "run")} each; repeats come from npm run lab -- sweep --repeats 5.`
        : `; with ${plural(fewest, "run")} each, chance alone lays them apart in 1 of ${oneIn} comparisons.`}
    </p>
  );
}

function Missing({ model: { missing, groups, sweep } }: { model: CompareModel }) {
  if (missing.length > 0) {
    return (
      <p className={styles.caution}>
        Not shown, because there is no such run, or it has not finished: {missing.join(", ")}.
      </p>
    );
  }
  if (groups.length > 0) return null;
  return (
    <p className={styles.caution}>
      {sweep === null ? (
        <>
          Nothing that was picked has a finished run. <LabLink href="/compare">Pick something else</LabLink>.
        </>
      ) : (
        "The first run of this sweep has not finished yet."
      )}
    </p>
  );
}
