import type { Metadata } from "next";
import { LabLink } from "@/app/_components/ui/lab-link";
import { RunsTable } from "../_components/runs/runs-table";
import { PageFrame } from "../_components/site/page-frame";
import { plural } from "../_lib/format";
import { listRuns } from "../_lib/lab-data";

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "Runs" };

const SHOWN = 50;

export default async function RunsPage() {
  const runs = await listRuns(SHOWN);
  const lead = runs.length < SHOWN ? `${plural(runs.length, "run")}, newest first.` : `The newest ${SHOWN} runs.`;
  return (
    <PageFrame title="Runs" lead={runs.length === 0 ? "Nothing run yet." : lead}>
      {runs.length === 0 ? (
        <p>
          A run gets its own address here and stays as long as the database does.{" "}
          <LabLink href="/">Run your first sale</LabLink>.
        </p>
      ) : (
        <RunsTable runs={runs} />
      )}
    </PageFrame>
  );
}
