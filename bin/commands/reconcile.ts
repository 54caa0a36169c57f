import type { Command } from "commander";
import { resourceOf, type StockTarget } from "../../lib/stock/types";
import { explainFailure, labOf } from "../runs/execute";
import { EXIT } from "../runs/exit-codes";
import { reconcileCounters } from "../runs/lab-client";
import { labUrl, wholeNumber } from "../runs/options";
import { stockTarget } from "../runs/target";
import { print, printError } from "../shared/terminal";

interface ReconcileFlags {
  readonly olderThanMs?: number;
  readonly url?: string;
  readonly json?: boolean;
}

/** `npm run lab -- reconcile [product:1]`: corrects differences between counters and orders that a crash left. */
export function addReconcileCommand(program: Command): void {
  program
    .command("reconcile")
    .description("reconcile the stock counters outside PostgreSQL with the orders; exit 1 if entries are still pending")
    .argument("[target]", "product:<id> or coupon:<id> (default: all that have a journal)", stockTarget)
    .option(
      "--older-than-ms <n>",
      "skip entries younger than this; use 0 if no purchases are running",
      wholeNumber(0, 86_400_000),
    )
    .option("--url <url>", "the lab (default: the lab of this checkout)", labUrl)
    .option("--json", "print the answer as JSON")
    .action(async (target: StockTarget | undefined, flags: ReconcileFlags) => {
      process.exitCode = await reconcile(target, flags).catch((error: unknown) => {
        printError(explainFailure(error));
        return EXIT.inconclusive;
      });
    });
}

async function reconcile(target: StockTarget | undefined, flags: ReconcileFlags): Promise<number> {
  const { olderThanMs } = flags;
  const request = { ...(target ? { target } : {}), ...(olderThanMs === undefined ? {} : { olderThanMs }) };
  const answer = await reconcileCounters(await labOf(flags), request);
  if (flags.json) print(JSON.stringify(answer, null, 2));
  else {
    for (const { target: of, keptIn, kept, givenBack, pending, corrected } of answer.settled) {
      print(
        `${resourceOf(of)} in ${keptIn}: ${kept} kept, ${givenBack} given back, ${pending} pending, corrected by ${corrected}`,
      );
    }
    if (answer.settled.length === 0) print("No counter needs reconciling.");
    for (const reason of answer.failed) printError(reason);
  }
  if (answer.failed.length > 0) return EXIT.inconclusive;
  return answer.settled.some(({ pending }) => pending > 0) ? EXIT.unsafe : EXIT.safe;
}
