import type { Metadata } from "next";
import { LabLink } from "@/app/_components/ui/lab-link";
import { RunsTable } from "../_components/runs/runs-table";
import { PageFrame } from "../_components/site/page-frame";
import { plural } from "../_lib/format";
import { listRuns, runFilterChoices } from "../_lib/lab-data";
import { listedRun } from "../_lib/listed-run";
import { runListQuery } from "../_lib/run-list-query";

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "Runs" };

const PAGE_SIZE = 50;

interface PageProps {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function RunsPage({ searchParams }: PageProps) {
  const query = runListQuery(await searchParams);
  const [{ runs, total }, choices] = await Promise.all([
    listRuns(PAGE_SIZE, { ...query.filter, page: query.page }),
    runFilterChoices(),
  ]);
  const isFiltered = Object.keys(query.filter).length > 0;
  const hasRuns = total > 0 || choices.strategies.length > 0;
  const lead = isFiltered
    ? `${plural(total, "run")} with these filters, newest first.`
    : `${plural(total, "run")}, newest first.`;
  return (
    <PageFrame title="Runs" lead={hasRuns ? lead : "No runs yet."}>
      {hasRuns ? (
        <RunsTable runs={runs.map(listedRun)} total={total} pageSize={PAGE_SIZE} query={query} choices={choices} />
      ) : (
        <p>
          Each run gets a permanent page, stored in the lab's database. <LabLink href="/">Run your first sale</LabLink>.
        </p>
      )}
    </PageFrame>
  );
}
