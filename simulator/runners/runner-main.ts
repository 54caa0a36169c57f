import { runSeeds } from "../sale/run-seeds";
import { seedBatchSchema, seedRangeOf } from "./seed-batch";

/** Child process: runs each batch it receives and sends back the result. */
process.on("message", async (message) => {
  process.send?.(await runSeeds(seedRangeOf(seedBatchSchema.parse(message))));
});
process.on("disconnect", () => process.exit());
