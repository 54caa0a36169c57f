import { z } from "zod";
import { countsSchema, percentilesSchema } from "../node/figures";
import type { RunDocument } from "./document";

const count = z.int().min(0);
/** Milliseconds; null if nothing was measured. */
const millis = z.number().min(0).nullable();

/** One point of the live feed (SSE event `sample`), about four per second. Figures are cumulative unless stated otherwise. */
export const runSampleSchema = z.object({
  seq: count,
  /** Time since the run was opened. */
  atMs: z.number().min(0),
  stockLeft: z.int(),
  /** Orders in the database. */
  orders: count,
  /** max(0, orders - initial). */
  oversold: count,
  counts: countsSchema,
  /** Over the last interval. */
  soldPerSecond: z.number().min(0),
  completedPerSecond: z.number().min(0),
  inFlight: count,
  waiters: count,
  /** Measured by the nodes, over the whole run so far. */
  latencyMs: percentilesSchema,
  /** Median of each phase over the last interval; null if no purchase completed in it. */
  phaseMediansMs: z.object({ poolWait: millis, wait: millis, hold: millis, commit: millis }),
  nodes: z.array(
    z.object({
      node: z.string(),
      sold: count,
      requests: count,
      inFlight: count,
      waiters: count,
      p50Ms: millis,
      p99Ms: millis,
    }),
  ),
});
export type RunSample = z.infer<typeof runSampleSchema>;

/**
 * Events of `GET /api/runs/{id}/events`: first `run` (the document so far), then `sample` (id = seq), and last `finished`
 * (the final document), after which the server closes the stream.
 */
export type RunEvent =
  | { readonly event: "run"; readonly data: RunDocument }
  | { readonly event: "sample"; readonly data: RunSample }
  | { readonly event: "finished"; readonly data: RunDocument };
