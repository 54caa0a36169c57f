import { join } from "node:path";
import { faultEffects } from "../../lib/faults/fault-effects";
import { MATRIX_FILE, readMatrix } from "../../lib/runs/fault-matrix-file";
import { stockStrategies } from "../../lib/stock/stock-strategies";
import { matrixMarkdown } from "../matrix/matrix-markdown";
import { type MatrixReport, matrixReport, selectionOf } from "../matrix/matrix-report";
import { ROOT } from "../supervisor/paths";
import { faultTables } from "./fault-table";
import { fullTables, replaceGenerated, shortTable } from "./strategy-table";

/** Pages that are generated, or have a generated part. */
export const GENERATED_PAGES = ["README.md", "docs/strategies.md", "docs/faults.md", "docs/fault-matrix.md"] as const;
export type GeneratedPage = (typeof GENERATED_PAGES)[number];

/** Returns the page with its generated part rebuilt from the code, and from the results in docs/fault-matrix.json. */
export function generatePage(page: GeneratedPage, text: string): string {
  if (page === "docs/faults.md") return replaceGenerated(text, "faults", faultTables(faultEffects()));
  if (page === "docs/fault-matrix.md") return matrixMarkdown(committedMatrix());
  const strategies = [...stockStrategies.values()].map(({ traits }) => traits);
  const table = page === "README.md" ? shortTable(strategies) : fullTables(strategies);
  return replaceGenerated(text, "strategies", table);
}

/** @throws Error if the file is missing or damaged */
function committedMatrix(): MatrixReport {
  const file = join(ROOT, "docs", MATRIX_FILE);
  const matrix = readMatrix(file);
  if (matrix === null || matrix === "unreadable") throw new Error(`${file} is missing or is not a fault matrix.`);
  return matrixReport(matrix, selectionOf(matrix));
}
