import { z } from "zod";

/**
 * What a run that is part of a sweep carries in its configuration. Each says the whole plan, so that the database is the
 * sweep's only state: any of its runs is enough to draw the grid, and to go on after an interruption.
 */
export const sweepMarkSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]{1,40}$/, "may hold lower-case letters, digits and - only, 40 at most"),
  /** Which repeat of its strategy this run is. */
  repeat: z.int().min(1).max(100),
  /** Runs of each strategy. */
  repeats: z.int().min(1).max(100),
  /** In the order in which they take turns. */
  strategies: z.array(z.string().min(1).max(64)).min(1).max(100),
});
export type SweepMark = z.infer<typeof sweepMarkSchema>;
