import { stockCatalogue } from "../../lib/stock/registry";
import { fullTables, replaceGenerated, shortTable } from "./strategy-table";

/** Pages with parts made from the code. */
export const GENERATED_PAGES = ["README.md", "docs/strategies.md"] as const;
export type GeneratedPage = (typeof GENERATED_PAGES)[number];

/** The page as it should read, given how it reads now. */
export function generatePage(page: GeneratedPage, text: string): string {
  const strategies = [...stockCatalogue.values()].map(({ traits }) => traits);
  const table = page === "README.md" ? shortTable(strategies) : fullTables(strategies);
  return replaceGenerated(text, "strategies", table);
}
