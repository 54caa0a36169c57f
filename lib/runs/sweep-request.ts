import { z } from "zod";
import { runRequestSchema } from "./run-request";
import { MAX_RUNS } from "./sweep";

/** Body of `POST /api/sweeps`: the settings of every run, and the strategies to repeat it with. */
export const sweepRequestSchema = z
  .strictObject({
    /** In the order in which they run. */
    strategies: z.array(z.string().min(1).max(64)).min(1).max(100),
    /** Runs of each strategy. */
    repeats: z.int().min(1).max(100).default(3),
    run: runRequestSchema
      .omit({ strategy: true, launch: true, sweep: true })
      .extend({ engine: z.enum(["k6", "builtin"]).default("k6") }),
  })
  .refine(({ strategies }) => new Set(strategies).size === strategies.length, {
    path: ["strategies"],
    message: "must name each strategy once",
  })
  .refine(({ strategies, repeats }) => strategies.length * repeats <= MAX_RUNS, {
    path: ["repeats"],
    message: `a sweep has at most ${MAX_RUNS} runs`,
  });
export type SweepRequest = z.output<typeof sweepRequestSchema>;
