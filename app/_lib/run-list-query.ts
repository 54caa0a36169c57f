import { type RunFilter, runFilterSchema } from "@/lib/runs/run-filter";
import { compareHref, selectionFromQuery } from "./compare-selection";

/** What the address of the list of runs selects. */
export interface RunListQuery {
  readonly filter: Omit<RunFilter, "page">;
  readonly page: number;
  /** Runs that are selected for a comparison; they may be on other pages. */
  readonly picked: readonly string[];
}

type Query = Readonly<Record<string, string | string[] | undefined>>;

const { page: pageSchema, ...filters } = runFilterSchema.shape;

/** Ignores malformed values, so that a truncated link still opens the list. */
export function runListQuery(query: Query): RunListQuery {
  const filter = Object.fromEntries(
    Object.entries(filters).flatMap(([name, schema]) => {
      const { success, data } = schema.safeParse(query[name]);
      return success && data !== undefined ? [[name, data]] : [];
    }),
  );
  const page = pageSchema.safeParse(query.page);
  return { filter, page: page.success ? page.data : 1, picked: selectionFromQuery(query).runs };
}

export function runListHref({ filter, page, picked }: RunListQuery): string {
  const parts = Object.entries(filter).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  if (page > 1) parts.push(`page=${page}`);
  if (picked.length > 0) parts.push(`runs=${picked.join(",")}`);
  return parts.length === 0 ? "/runs" : `/runs?${parts.join("&")}`;
}

export function compareRunsHref(picked: readonly string[]): string {
  return compareHref({ runs: picked });
}

/** "51 to 100 of 132 runs"; the first page of a short list is just "7 runs". */
export function pageText({ page, size, total }: { page: number; size: number; total: number }): string {
  const runs = `${total} ${total === 1 ? "run" : "runs"}`;
  if (total <= size && page === 1) return runs;
  const from = (page - 1) * size + 1;
  return from > total ? `none of ${runs} on page ${page}` : `${from} to ${Math.min(total, page * size)} of ${runs}`;
}
