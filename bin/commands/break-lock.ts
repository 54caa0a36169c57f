import type { Command } from "commander";
import { breakableLocks } from "../../lib/locks/redis/break-lock";
import type { StockTarget } from "../../lib/stock/types";
import { explainFailure, labOf } from "../runs/execute";
import { EXIT } from "../runs/exit-codes";
import { breakLock } from "../runs/lab-client";
import { labUrl, strategyId } from "../runs/options";
import { stockTarget } from "../runs/target";
import { print, printError } from "../shared/terminal";

/** `npm run lab -- break-lock redis-setnx product:1`: how an operator frees a lock that has no expiry. */
export function addBreakLockCommand(program: Command): void {
  program
    .command("break-lock")
    .description("delete a lock that has no expiry, even if a live process holds it; exit 1 if it was not held")
    .argument("<strategy>", `the strategy of the lock: ${breakableLocks.join(", ")}`, strategyId)
    .argument("<target>", "product:<id> or coupon:<id>", stockTarget)
    .option("--url <url>", "the lab (default: the lab of this checkout)", labUrl)
    .action(async (strategy: string, target: StockTarget, flags: { readonly url?: string }) => {
      process.exitCode = await run(strategy, target, flags).catch((error: unknown) => {
        printError(explainFailure(error));
        return EXIT.inconclusive;
      });
    });
}

async function run(strategy: string, target: StockTarget, flags: { readonly url?: string }): Promise<number> {
  const { resource, broken } = await breakLock(await labOf(flags), { strategy, target });
  print(broken ? `${strategy} on ${resource} is free now.` : `${strategy} on ${resource} was not held.`);
  return broken ? EXIT.safe : EXIT.unsafe;
}
