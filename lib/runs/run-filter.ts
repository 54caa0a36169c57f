import { z } from "zod";
import { FAULT_IDS } from "../faults/ids";
import { RUN_STATES } from "./run-states";

/** The filters of the list of runs. */

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
