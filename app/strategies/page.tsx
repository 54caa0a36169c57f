import type { Metadata } from "next";
import { ShopStrategy } from "../_components/lab/shop-strategy";
import { PageFrame } from "../_components/site/page-frame";
import { StrategiesTable } from "../_components/strategies/strategies-table";
import { readCatalogue } from "../_lib/lab-data";

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "Strategies" };

export default async function StrategiesPage() {
  const { strategies } = await readCatalogue();
  return (
    <PageFrame
      title="Strategies"
      lead="How each strategy works, whether it is safe without faults, and what each fault does to it. Unsafe strategies are implemented as carefully as safe ones, so that you can see how they fail. Select a name to see its commands, every fault and its figures."
    >
      <ShopStrategy />
      <StrategiesTable strategies={strategies} />
    </PageFrame>
  );
}
