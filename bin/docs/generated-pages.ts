import { faultEffects } from "../../lib/faults/fault-effects";
import { stockStrategies } from "../../lib/stock/stock-strategies";
import { faultTables } from "./fault-table";
import { fullTables, replaceGenerated, shortTable } from "./strategy-table";

/** Pages with a generated part. */
export const GENERATED_PAGES = ["README.md", "docs/strategies.md", "docs/faults.md"] as const;
export type GeneratedPage = (typeof GENERATED_PAGES)[number];

/** Returns the page with its generated part rebuilt from the code. */
export function generatePage(page: GeneratedPage, text: string): string {
  if (page === "docs/faults.md") return replaceGenerated(text, "faults", faultTables(faultEffects()));
  const strategies = [...stockStrategies.values()].map(({ traits }) => traits);
  const table = page === "README.md" ? shortTable(strategies) : fullTables(strategies);
  return replaceGenerated(text, "strategies", table);
}
