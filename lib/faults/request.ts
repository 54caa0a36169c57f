import { z } from "zod";
import { LONGEST_PAUSE_MS } from "../node/node-stops";
import { FAULT_IDS } from "./ids";

/** A requested fault: an item of `faults` in the body of `POST /api/runs`. */
export const faultRequestSchema = z.strictObject({
  id: z.enum(FAULT_IDS),
  /** Time after the run's first purchase; absent: `DEFAULT_AT_MS`. */
  atMs: z.int().min(0).max(600_000).optional(),
  /** Absent: long enough for the strategy and its lease. Instant faults take none. */
  durationMs: z.int().min(100).max(LONGEST_PAUSE_MS).optional(),
  /** The store node to act on, for faults of one node; absent: the first. For network faults, absent: all nodes. */
  node: z.string().min(1).max(64).optional(),
  /** For network faults: the server to act on, by its id; absent: all servers of the strategy. */
  server: z.string().min(1).max(20).optional(),
});
export type FaultRequest = z.infer<typeof faultRequestSchema>;

/** A fault for a run in progress: the body of `POST /api/runs/{id}/faults`. */
export const armedFaultSchema = faultRequestSchema.omit({ atMs: true }).extend({
  /** Time from now; absent: now. */
  inMs: z.int().min(0).max(600_000).optional(),
});
export type ArmedFault = z.infer<typeof armedFaultSchema>;

/** By then the sale is under way and far from sold out. */
export const DEFAULT_AT_MS = 200;

export const MAX_FAULTS_PER_RUN = 4;
