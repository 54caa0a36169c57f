import type { Command } from "commander";
import { FAULT_SYNTAX } from "../../lib/faults/fault-text";
import type { FaultRequest } from "../../lib/faults/request";
import type { RunDocument } from "../../lib/runs/document";
import { rerunRequest } from "../../lib/runs/rerun-request";
import { reportText } from "../../load-tests/lib/report.js";
import { engineNote, executeRun, explainFailure, labOf } from "../runs/execute";
import { EXIT, exitCodeOf } from "../runs/exit-codes";
import { addFault } from "../runs/fault-option";
import { type LabAddress, readRun } from "../runs/lab-client";
import {
  addSaleOptions,
  refuseContradictions,
  refuseSettingsBeside,
  runRequestOf,
  type SaleFlags,
  strategyId,
  strategyIds,
  wholeNumber,
} from "../runs/options";
import { Progress } from "../runs/progress";
import { print, printError } from "../shared/terminal";

interface RunFlags extends SaleFlags {
  readonly strategy?: string;
  readonly again?: string;
  readonly repeat: number;
  readonly fault: readonly FaultRequest[];
}

/** `npm run lab -- run --strategy <id> …`: one flash sale, from the command line. */
export function addRunCommand(program: Command): void {
  const command = program
    .command("run")
    .description("run one flash sale and print its result; exit code 0 safe, 1 unsafe, 2 inconclusive or not run")
    .option("--strategy <id>", `the strategy that guards the stock: ${strategyIds().join(", ")}`, strategyId)
    .option("--again <runId>", "repeat this run with the settings and the seed of its document");
  addSaleOptions(command)
    .option("--fault <fault>", `inject a fault: ${FAULT_SYNTAX}; repeat the flag for another`, addFault, [])
    .option("--repeat <n>", "number of runs; with more than one, --json prints an array", wholeNumber(1, 100), 1)
    .action(async (flags: RunFlags) => {
      process.exitCode = await run(flags, command).catch((error: unknown) => {
        printError(explainFailure(error));
        return EXIT.inconclusive;
      });
    });
}

async function run(flags: RunFlags, command: Command): Promise<number> {
  refuseContradictions(flags);
  const lab = await labOf(flags);
  const { strategy, request } = await saleOf(flags, command, lab);
  const documents: RunDocument[] = [];
  for (let repeat = 1; repeat <= flags.repeat; repeat += 1) {
    const label = flags.repeat === 1 ? strategy : `${strategy} ${repeat}/${flags.repeat}`;
    const document = await executeRun(lab, { request, progress: new Progress(process.stderr, label) });
    documents.push(document);
    if (!flags.json) print(reportText(document, { pageUrl: `${lab.baseUrl}/runs/${document.id}` }));
  }
  if (flags.json) print(JSON.stringify(flags.repeat === 1 ? documents[0] : documents, null, 2));
  return exitCodeOf(documents);
}

interface Sale {
  readonly strategy: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** The sale to run: from the flags, or from an earlier run. */
async function saleOf(flags: RunFlags, command: Command, lab: LabAddress): Promise<Sale> {
  const { strategy, again } = flags;
  if (again !== undefined) {
    refuseSettingsBeside("--again", command, ["again", "repeat", "url", "json"]);
    const request = rerunRequest(await readRun(lab, again));
    return { strategy: request.strategy, request };
  }
  if (strategy === undefined)
    throw new Error(
      `Name a strategy with --strategy <id> (${strategyIds().join(", ")}), or a run to repeat with --again <runId>.`,
    );
  const note = await engineNote(lab, flags.engine);
  if (note) printError(note);
  const faults = flags.fault.length === 0 ? {} : { faults: flags.fault };
  return { strategy, request: { ...runRequestOf(flags, strategy), ...faults } };
}
