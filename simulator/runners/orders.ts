import { z } from "zod";
import { MUTANTS } from "../mutants/index";
import type { Range } from "../sale/run-seeds";
import { PROFILES } from "../sale/scenario";
import { SIM_STRATEGIES } from "../strategies/simulated-strategies";

/** Worlds to run in another process: strategies and mutants are named, since code does not travel. */
export const orderSchema = z.object({
  /** Of a strategy of the catalogue, or a mutant's name. */
  subject: z.string(),
  profile: z.enum(PROFILES),
  firstSeed: z.int(),
  seeds: z.int().min(1),
  stopsAt: z.string().optional(),
});
export type Order = z.infer<typeof orderSchema>;

export function rangeOf({ subject, stopsAt, ...seeds }: Order): Range {
  const stop = stopsAt === undefined ? {} : { stopsAt };
  const mutant = MUTANTS.find(({ name }) => name === subject);
  if (mutant) return { ...seeds, ...stop, strategy: mutant.strategy, ...(mutant.fence ? { fence: mutant.fence } : {}) };
  const strategy = SIM_STRATEGIES.find(({ id }) => id === subject);
  if (!strategy) throw new Error(`there is no strategy or mutant ${subject}`);
  return { ...seeds, ...stop, strategy };
}
