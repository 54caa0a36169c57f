import type { Metadata } from "next";
import type { StoredMatrix } from "@/lib/runs/fault-matrix-file";
import { CellExplanation } from "../_components/faults/cell-explanation";
import { MatrixTable } from "../_components/faults/matrix-table";
import { PageFrame } from "../_components/site/page-frame";
import { LabLink } from "../_components/ui/lab-link";
import { explainCell, matrixRows, matrixSummary } from "../_lib/fault-matrix-view";
import { readFaultMatrix } from "../_lib/lab-data";

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "Faults" };

const LEAD =
  "What each fault does to each strategy: measured by runs, and compared with what the strategy's traits predict. Select a cell to open its run, or to read how to repeat it.";

export default async function FaultsPage({ searchParams }: { searchParams: Promise<Record<string, unknown>> }) {
  const { cell } = await searchParams;
  const stored = await readFaultMatrix();
  const results = stored?.matrix.results ?? [];
  return (
    <PageFrame title="Faults" lead={LEAD}>
      <p>{stored === null ? <NotMeasured /> : <Measured stored={stored} />}</p>
      <CellExplanation cell={explainCell(results, typeof cell === "string" ? cell : undefined)} />
      <MatrixTable rows={matrixRows(results, stored?.runIds ?? new Set())} />
    </PageFrame>
  );
}

function NotMeasured() {
  return (
    <>
      <strong>Nothing has been measured yet, so each cell shows what is expected.</strong> To measure the matrix, run{" "}
      <code>npm run lab -- faults</code>. To inject one fault, choose it under <em>Fault</em> in the{" "}
      <LabLink href="/">Lab</LabLink>.
    </>
  );
}

function Measured({ stored: { matrix, from } }: { stored: StoredMatrix }) {
  const date = new Date(matrix.startedAtEpochMs).toISOString().slice(0, 10);
  const source = from === "lab" ? "measured by this lab" : "measured by the project (docs/fault-matrix.md)";
  return (
    <>
      <strong>{matrixSummary(matrix).agreement}</strong>{" "}
      <span className="muted">
        {source} on {date}, version {matrix.version.commit}
      </span>
    </>
  );
}
