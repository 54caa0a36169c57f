import type { Metadata } from "next";
import styles from "../_components/compare/compare-page.module.css";
import { CompareTable } from "../_components/compare/compare-table";
import { Comparison } from "../_components/compare/comparison";
import { LiveRefresh } from "../_components/compare/live-refresh";
import { NotRunYet } from "../_components/compare/not-run-yet";
import { SweepGrid } from "../_components/compare/sweep-grid";
import { SweepList } from "../_components/compare/sweep-list";
import { PageFrame } from "../_components/site/page-frame";
import { LabLink } from "../_components/ui/lab-link";
import { readComparison } from "../_lib/compare-model";
import { commonSettings, compareRows } from "../_lib/compare-rows";
import { type Selection, selectionFromQuery, selectionQuery } from "../_lib/compare-selection";
import { plural } from "../_lib/format";
import { latestRunPerStrategy, listSweeps, readCatalogue } from "../_lib/lab-data";

const SWEEPS_SHOWN = 10;

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "Compare" };

interface PageProps {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ComparePage({ searchParams }: PageProps) {
  const selection = selectionFromQuery(await searchParams);
  const picked = selection.runs.length + selection.strategies.length;
  return selection.sweep === null && picked < 2 ? (
    <EveryStrategy picked={selection.strategies} />
  ) : (
    <SideBySide selection={selection} />
  );
}

/** Shown with fewer than two selections: the last run of every strategy. */
async function EveryStrategy({ picked }: { picked: readonly string[] }) {
  const [catalogue, latest, sweeps] = await Promise.all([
    readCatalogue(),
    latestRunPerStrategy(),
    listSweeps(SWEEPS_SHOWN),
  ]);
  const { rows, never } = compareRows(catalogue.strategies, latest);
  const common = commonSettings(rows);
  const settings = common !== null && common.count === rows.length ? ` All used ${common.line}.` : "";
  const how = rows.length < 2 ? "" : " Select two or more to compare their latency curves.";
  return (
    <PageFrame
      title="Compare"
      lead={`The last finished run of each strategy. ${rows.length} of ${catalogue.strategies.length} strategies have a run.${settings}${how}`}
    >
      {rows.length === 0 ? null : <CompareTable rows={rows} common={common} picked={picked} />}
      {sweeps.length === 0 ? null : <SweepList sweeps={sweeps} />}
      {never.length === 0 ? null : <NotRunYet strategies={never} />}
    </PageFrame>
  );
}

async function SideBySide({ selection }: { selection: Selection }) {
  const model = await readComparison(selection);
  const { groups, sweep } = model;
  const runs = groups.reduce((sum, group) => sum + group.runs.length, 0);
  const isActive = sweep !== null && sweep.done < sweep.total;
  return (
    <PageFrame
      title="Compare"
      lead={
        <>
          {plural(runs, "run")} in {plural(groups.length, "group")}. Runs with the same settings count as repeats.{" "}
          <LabLink href="/compare">Change the selection</LabLink>
        </>
      }
    >
      <div className={styles.side}>
        {selection.sweep !== null && sweep === null ? (
          <p className="muted">
            This lab has no sweep {selection.sweep} yet. Its page fills as soon as the first run starts.
          </p>
        ) : null}
        {sweep === null ? null : <SweepGrid grid={sweep} />}
        <Comparison key={selectionQuery({ ...selection, base: null })} model={model} selection={selection} />
      </div>
      {isActive || (selection.sweep !== null && sweep === null) ? (
        <LiveRefresh everyMs={1_000} stamp={`${sweep?.done ?? 0}`} />
      ) : null}
    </PageFrame>
  );
}
