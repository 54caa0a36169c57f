import { z } from "zod";

/**
 * The sweep that a run belongs to, stored in the run's configuration. Every run carries the whole plan, so a sweep needs no other
 * state: one of its runs is enough to show its grid and to resume it.
 */
export const sweepMarkSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]{1,40}$/, "must be 1 to 40 lower-case letters, digits and hyphens"),
  /** Number of this run among the repeats of its strategy, from 1. */
  repeat: z.int().min(1).max(100),
  /** Runs of each strategy. */
  repeats: z.int().min(1).max(100),
  /** In the order in which they run. */
  strategies: z.array(z.string().min(1).max(64)).min(1).max(100),
});
export type SweepMark = z.infer<typeof sweepMarkSchema>;
