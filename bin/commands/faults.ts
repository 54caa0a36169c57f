import { type Command, InvalidArgumentError } from "commander";
import { FAULT_IDS, type FaultId } from "../../lib/faults/ids";
import { faultListJson, faultListText } from "../matrix/fault-list";
import { type MatrixFlags, measureMatrix } from "../matrix/measure-matrix";
import { explainFailure } from "../runs/execute";
import { labUrl, strategyId, strategyList, wholeNumber } from "../runs/options";
import { print, printError } from "../shared/terminal";

interface FaultsFlags extends MatrixFlags {
  readonly list?: boolean;
  readonly strategy?: string;
}

const CANNOT_RUN = 2;

/** `npm run lab -- faults`: measures the fault matrix, or lists the faults. */
export function addFaultsCommand(program: Command): void {
  program
    .command("faults")
    .description(
      "measure what each fault does to each strategy; exit code 0 if every cell is as expected, 1 if not, 2 if it cannot run",
    )
    .option("--strategies <ids>", "`all`, or ids separated by commas", strategyList, "all")
    .option("--faults <ids>", "`all`, or ids separated by commas", faultList, "all")
    .option("--repeats <n>", "runs of each cell, interleaved", wholeNumber(1, 20), 1)
    .option("--fresh", "measure the selected cells again, instead of continuing after the last measured one")
    .option(
      "--keep-others",
      "after a change that concerns only the strategies of --strategies: keep the results of the others, with the commit that they measured",
    )
    .option(
      "--out <folder>",
      "also write fault-matrix.md and fault-matrix.json here (default: docs, for the whole matrix)",
    )
    .option("--url <url>", "URL of a running lab (default: the lab of this checkout)", labUrl)
    .option("--list", "list the faults and the strategies that they make unsafe, and measure nothing")
    .option("--strategy <id>", "with --list: show the effect on this strategy only", strategyId)
    .option("--json", "print JSON")
    .action(async (flags: FaultsFlags) => {
      process.exitCode = await run(flags).catch((error: unknown) => {
        printError(explainFailure(error));
        return CANNOT_RUN;
      });
    });
}

async function run(flags: FaultsFlags): Promise<number> {
  if (flags.list) {
    print(flags.json ? faultListJson(flags.strategy) : faultListText(flags.strategy));
    return 0;
  }
  if (flags.strategy !== undefined)
    throw new Error("--strategy belongs to --list. To measure one strategy, use --strategies.");
  return measureMatrix(flags);
}

/** `all`, or ids separated by commas. @throws InvalidArgumentError that lists the valid ids */
function faultList(text: string): "all" | FaultId[] {
  if (text.trim() === "all") return "all";
  const names = text.split(",").map((part) => part.trim());
  return [...new Set(names.filter((name) => name !== "").map(faultId))];
}

function faultId(name: string): FaultId {
  const id = FAULT_IDS.find((known) => known === name);
  if (id !== undefined) return id;
  throw new InvalidArgumentError(`There is no such fault. Valid: ${FAULT_IDS.join(", ")}.`);
}
