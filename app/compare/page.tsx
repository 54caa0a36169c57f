import type { Metadata } from "next";
import { CompareTable } from "../_components/compare/compare-table";
import { PageFrame } from "../_components/site/page-frame";
import { compareRows, sameSettings } from "../_lib/compare-rows";
import { latestRunPerStrategy, readCatalogue } from "../_lib/lab-data";

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "Compare" };

export default async function ComparePage() {
  const [catalogue, latest] = await Promise.all([readCatalogue(), latestRunPerStrategy()]);
  const rows = compareRows(catalogue.strategies, latest);
  const ran = rows.filter((row) => row.run !== null).length;
  return (
    <PageFrame
      title="Compare"
      lead={`The last finished run of every strategy, side by side: ${ran} of ${rows.length} have been run.`}
    >
      <CompareTable rows={rows} comparable={sameSettings(rows)} />
    </PageFrame>
  );
}
