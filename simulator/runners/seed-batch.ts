import { z } from "zod";
import { MUTANTS } from "../mutants/all-mutants";
import type { SeedRange } from "../sale/run-seeds";
import { PROFILES } from "../sale/scenario";
import { SIM_STRATEGIES } from "../strategies/simulated-strategies";

/** A batch of worlds for another process. It names the strategy or mutant, because functions cannot be sent. */
export const seedBatchSchema = z.object({
  /** Id of a simulated strategy, or the name of a mutant. */
  name: z.string(),
  profile: z.enum(PROFILES),
  firstSeed: z.int(),
  seeds: z.int().min(1),
  stopAtViolation: z.string().optional(),
});
export type SeedBatch = z.infer<typeof seedBatchSchema>;

export function seedRangeOf({ name, stopAtViolation, ...seeds }: SeedBatch): SeedRange {
  const stop = stopAtViolation === undefined ? {} : { stopAtViolation };
  const mutant = MUTANTS.find((each) => each.name === name);
  if (mutant) return { ...mutant.mistake, ...seeds, ...stop, strategy: mutant.strategy };
  const strategy = SIM_STRATEGIES.find(({ id }) => id === name);
  if (!strategy) throw new Error(`There is no simulated strategy or mutant "${name}".`);
  return { ...seeds, ...stop, strategy };
}
