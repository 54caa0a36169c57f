import type { Metadata } from "next";
import { CompareTable } from "../_components/compare/compare-table";
import { PageFrame } from "../_components/site/page-frame";
import { compareRows, sameSettings, settingsLine } from "../_lib/compare-rows";
import { latestRunPerStrategy, readCatalogue } from "../_lib/lab-data";

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "Compare" };

export default async function ComparePage() {
  const [catalogue, latest] = await Promise.all([readCatalogue(), latestRunPerStrategy()]);
  const rows = compareRows(catalogue.strategies, latest);
  const ran = rows.flatMap((row) => (row.run === null ? [] : [row.run]));
  const comparable = sameSettings(rows);
  const [first] = ran;
  const settings = comparable && first !== undefined ? ` All with ${settingsLine(first.config)}.` : "";
  return (
    <PageFrame
      title="Compare"
      lead={`The last finished run of every strategy, side by side: ${ran.length} of ${rows.length} have been run.${settings}`}
    >
      <CompareTable rows={rows} comparable={comparable} />
    </PageFrame>
  );
}
