import { z } from "zod";
import { histogramsSchema } from "../../runs/document";
import { runFilterSchema } from "../../runs/run-filter";

/** Bodies and queries, apart from those of the shop (`lib/shop/api.ts`) and of runs (`lib/runs/document.ts`). */

/** Body of `PUT /api/strategy` and `PUT /api/node/strategy`. */
export const strategyRequestSchema = z.strictObject({ id: z.string().min(1).max(64) });

/** Body of `POST /api/session`. */
export const sessionRequestSchema = z.strictObject({ token: z.string().min(1).max(500) });

export const runsQuerySchema = limitQuery({ max: 500, fallback: 50 }).extend(runFilterSchema.shape);
export const sweepsQuerySchema = limitQuery({ max: 100, fallback: 20 });

/** The number of newest entries to return. */
function limitQuery({ max, fallback }: { readonly max: number; readonly fallback: number }) {
  return z.strictObject({ limit: z.coerce.number().int().min(1).max(max).default(fallback) });
}

const micros = z.coerce.number().int().min(0);

/** Query of `GET /api/runs/{id}/timeline`. */
export const timelineQuerySchema = z.strictObject({ fromUs: micros.default(0), toUs: micros.optional() });

/** Query of `GET /api/runs/{id}/export`. */
export const exportQuerySchema = z.strictObject({
  format: z.enum(["json", "csv", "hgrm", "html"]),
  /** For CSV: what a line is. */
  rows: z.enum(["samples", "operations", "percentiles"]).default("samples"),
  /** For .hgrm: which distribution. */
  of: z.enum([...histogramsSchema.keyof().options, "buyers"]).default("latency"),
});
