import type { Metadata } from "next";
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
  if (stored === null) {
    return (
      <PageFrame title="Faults" lead={LEAD}>
        <p>
          No fault matrix has been measured yet. To measure it, run <code>npm run lab -- faults</code>. To inject one
          fault, choose it under <em>Fault</em> in the <LabLink href="/">Lab</LabLink>.
        </p>
      </PageFrame>
    );
  }
  const { matrix, from, runIds } = stored;
  const { agreement } = matrixSummary(matrix);
  const date = new Date(matrix.startedAtEpochMs).toISOString().slice(0, 10);
  const source = from === "lab" ? "measured by this lab" : "measured by the project (docs/fault-matrix.md)";
  return (
    <PageFrame title="Faults" lead={LEAD}>
      <p>
        <strong>{agreement}</strong>{" "}
        <span className="muted">
          {source} on {date}, version {matrix.version.commit}
        </span>
      </p>
      <CellExplanation cell={explainCell(matrix, typeof cell === "string" ? cell : undefined)} />
      <MatrixTable rows={matrixRows(matrix, runIds)} />
    </PageFrame>
  );
}
