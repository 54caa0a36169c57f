import type { Metadata } from "next";
import { LabLink } from "@/app/_components/ui/lab-link";
import { type ListedRun, RunsTable } from "../_components/runs/runs-table";
import { PageFrame } from "../_components/site/page-frame";
import { selectionFromQuery } from "../_lib/compare-selection";
import { plural } from "../_lib/format";
import { listRuns } from "../_lib/lab-data";

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "Runs" };

const SHOWN = 50;

interface PageProps {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function RunsPage({ searchParams }: PageProps) {
  const [runs, query] = await Promise.all([listRuns(SHOWN), searchParams]);
  const lead = runs.length < SHOWN ? `${plural(runs.length, "run")}, newest first.` : `The newest ${SHOWN} runs.`;
  return (
    <PageFrame title="Runs" lead={runs.length === 0 ? "No runs yet." : lead}>
      {runs.length === 0 ? (
        <p>
          Each run gets a permanent page, stored in the lab's database. <LabLink href="/">Run your first sale</LabLink>.
        </p>
      ) : (
        <RunsTable runs={runs.map(listed)} picked={selectionFromQuery(query).runs} />
      )}
    </PageFrame>
  );
}

function listed({
  id,
  strategy,
  config,
  startedAtEpochMs,
  status,
  verdict,
  violations,
  latencyMs,
}: ListedRun): ListedRun {
  return { id, strategy, config, startedAtEpochMs, status, verdict, violations, latencyMs };
}
