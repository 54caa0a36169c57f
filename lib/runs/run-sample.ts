import { z } from "zod";
import { countsSchema, percentilesSchema } from "../node/figures";
import type { RunDocument } from "./document";

const count = z.int().min(0);
/** Milliseconds; null if nothing was measured. */
const millis = z.number().min(0).nullable();

/**
 * What an open run is doing. `generator`: the lab starts the load generator. `doors`: buyers connect, and the first purchase is
 * awaited. `selling`: purchases arrive. `closing`: the load is over and the lab collects what the nodes recorded.
 */
export const runStageSchema = z.enum(["generator", "doors", "selling", "closing"]);
export type RunStage = z.infer<typeof runStageSchema>;

export const liveFaultSchema = z.object({
  id: z.string(),
  /** The node that the fault stops; null for a fault of a server. */
  node: z.string().nullable(),
  /** False: the fault waits for its moment. */
  isActive: z.boolean(),
});
export type LiveFault = z.infer<typeof liveFaultSchema>;

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
  /** Over the last interval. Of the units sold, only those that can be delivered. */
  soldPerSecond: z.number().min(0),
  completedPerSecond: z.number().min(0),
  inFlight: count,
  waiters: count,
  /** Measured by the nodes, over the whole run so far. */
  latencyMs: percentilesSchema,
  /** The same over the last interval; null if no purchase completed in it. Absent, like the next two: an older run. */
  intervalLatencyMs: z.object({ p50: millis, p95: millis, p99: millis }).optional(),
  stage: runStageSchema.optional(),
  /** Requested faults that have not ended. */
  faults: z.array(liveFaultSchema).optional(),
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
