import { runSeeds } from "../sale/run-seeds";
import { orderSchema, rangeOf } from "./orders";

/** A process that runs the worlds it is sent, one range at a time, and says how they went. */
process.on("message", async (message) => {
  process.send?.(await runSeeds(rangeOf(orderSchema.parse(message))));
});
process.on("disconnect", () => process.exit());
