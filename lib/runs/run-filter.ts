import { z } from "zod";
import { FAULT_IDS } from "../faults/ids";

/** The filters of the list of runs. A module of its own, so that a browser can import it without the database. */

/** A run that has ended is found by its verdict, others by their status. */
export const RUN_STATES = ["safe", "unsafe", "inconclusive", "failed", "running"] as const;

const MAX_PAGE = 100_000;

export const runFilterSchema = z.strictObject({
  strategy: z.string().min(1).max(64).optional(),
  verdict: z.enum(RUN_STATES).optional(),
  /** A fault that was requested. */
  fault: z.enum(FAULT_IDS).optional(),
  sweep: z.string().min(1).max(64).optional(),
  /** Counts from 1. */
  page: z.coerce.number().int().min(1).max(MAX_PAGE).default(1),
});
export type RunFilter = z.infer<typeof runFilterSchema>;
