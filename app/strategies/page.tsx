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
      lead="How each one works, what it promises while nothing fails, and what becomes of the promise when something does. An unsafe strategy is built as faithfully as a safe one: its flaw is the exhibit. A name opens the Lab with it."
    >
      <ShopStrategy />
      <StrategiesTable strategies={strategies} />
    </PageFrame>
  );
}
