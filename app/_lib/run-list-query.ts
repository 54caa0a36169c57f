import { runFilterSchema } from "@/lib/runs/run-filter";
import { selectionFromQuery } from "./compare-selection";
import type { RunListQuery } from "./run-list-href";

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
