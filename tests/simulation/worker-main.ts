import { z } from "zod";
import { runSeeds } from "./sale/run-seeds";
import { PROFILES } from "./sale/scenario";
import { SIM_STRATEGIES } from "./strategies/catalogue";

/** A process of `npm run simulate`: runs the ranges it is sent, one at a time, and says how they went. */
const orderSchema = z.object({
  strategyId: z.string(),
  profile: z.enum(PROFILES),
  firstSeed: z.int(),
  seeds: z.int().min(1),
});

process.on("message", async (message) => {
  const { strategyId, ...range } = orderSchema.parse(message);
  const strategy = SIM_STRATEGIES.find(({ id }) => id === strategyId);
  if (!strategy) throw new Error(`there is no strategy ${strategyId}`);
  process.send?.(await runSeeds({ strategy, ...range }));
});
