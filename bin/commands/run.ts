import type { Command } from "commander";
import type { RunDocument } from "../../lib/runs/document";
import { reportText } from "../../load-tests/lib/report.js";
import { engineNote, executeRun, explainFailure, labOf } from "../runs/execute";
import { EXIT, exitCodeOf } from "../runs/exit-codes";
import {
  addSaleOptions,
  refuseContradictions,
  type SaleFlags,
  strategyId,
  strategyIds,
  wholeNumber,
} from "../runs/options";

interface RunFlags extends SaleFlags {
  readonly strategy: string;
  readonly repeat: number;
}

/** `npm run lab -- run --strategy <id> …`: one flash sale, from the command line. */
export function addRunCommand(program: Command): void {
  const command = program
    .command("run")
    .description(
      "run one flash sale and print its run document; exit 0 safe, 1 unsafe, 2 inconclusive or could not run",
    )
    .requiredOption("--strategy <id>", `what guards the stock: ${strategyIds().join(", ")}`, strategyId);
  addSaleOptions(command)
    .option("--repeat <n>", "run it this often; --json then prints an array", wholeNumber(1, 100), 1)
    .action(async (flags: RunFlags) => {
      process.exitCode = await run(flags).catch((error: unknown) => {
        console.error(explainFailure(error));
        return EXIT.inconclusive;
      });
    });
}

async function run(flags: RunFlags): Promise<number> {
  refuseContradictions(flags);
  const lab = await labOf(flags);
  const note = await engineNote(lab, flags.engine);
  if (note) console.error(note);
  const documents: RunDocument[] = [];
  for (let repeat = 1; repeat <= flags.repeat; repeat += 1) {
    const label = flags.repeat === 1 ? flags.strategy : `${flags.strategy} ${repeat}/${flags.repeat}`;
    const document = await executeRun(lab, { flags, strategy: flags.strategy, label }, process.stderr);
    documents.push(document);
    if (!flags.json) console.log(reportText(document, { pageUrl: `${lab.baseUrl}/runs/${document.id}` }));
  }
  if (flags.json) console.log(JSON.stringify(flags.repeat === 1 ? documents[0] : documents, null, 2));
  return exitCodeOf(documents);
}
