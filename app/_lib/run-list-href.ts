import type { RunFilter } from "@/lib/runs/run-filter";
import { formatCount, plural } from "./format";

// Imported by browser code: zod would evaluate text there, which the content security policy reports.

/** What the address of the list of runs selects. */
export interface RunListQuery {
  readonly filter: Omit<RunFilter, "page">;
  readonly page: number;
  /** Runs that are selected for a comparison; they may be on other pages. */
  readonly picked: readonly string[];
}

export function runListHref({ filter, page, picked }: RunListQuery): string {
  const parts = Object.entries(filter).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  if (page > 1) parts.push(`page=${page}`);
  if (picked.length > 0) parts.push(`runs=${picked.join(",")}`);
  return parts.length === 0 ? "/runs" : `/runs?${parts.join("&")}`;
}

/** "51 to 100 of 132 runs"; the first page of a short list is just "7 runs". */
export function pageText({ page, size, total }: { page: number; size: number; total: number }): string {
  const runs = plural(total, "run");
  if (total <= size && page === 1) return runs;
  const from = (page - 1) * size + 1;
  if (from > total) return `none of ${runs} on page ${formatCount(page)}`;
  return `${formatCount(from)} to ${formatCount(Math.min(total, page * size))} of ${runs}`;
}
