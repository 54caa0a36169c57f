import { mkdir, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Command } from "commander";
import { newSweepId } from "../../lib/runs/sweep";
import { summarise } from "../runs/aggregate";
import { engineNote, explainFailure, labOf } from "../runs/execute";
import { addSaleOptions, runRequestOf, type SaleFlags, strategyList, wholeNumber } from "../runs/options";
import { failedClaims, resultsPage } from "../runs/results-page";
import { selectStrategies, sweep } from "../runs/sweep";
import { print, printError } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";

interface ResultsFlags extends SaleFlags {
  readonly strategies: "all" | string[];
  readonly repeats: number;
  readonly out: string;
}

/** One strategy of each kind. `--strategies all` measures every strategy. */
const MAIN_STRATEGIES = ["none", "local-mutex", "sql-guarded", "sql-optimistic", "redis-lock", "redlock", "zk-mutex"];

const CLAIM_FAILED = 1;
const CANNOT_RUN = 2;

/** `npm run lab -- results`: measures every strategy under the main sale and writes docs/results.md. */
export function addResultsCommand(program: Command): void {
  const command = program
    .command("results")
    .description("measure the strategies under the main sale and write docs/results.md; exit code 1 if a claim fails")
    .option("--strategies <ids>", "`all`, or ids separated by commas", strategyList, MAIN_STRATEGIES)
    .option("--repeats <n>", "runs of each strategy, interleaved", wholeNumber(1, 100), 5)
    .option("--out <file>", "file to write", join(ROOT, "docs", "results.md"));
  addSaleOptions(command).action(async (flags: ResultsFlags) => {
    process.exitCode = await runResults(flags).catch((error: unknown) => {
      printError(explainFailure(error));
      return CANNOT_RUN;
    });
  });
}

async function runResults(flags: ResultsFlags): Promise<number> {
  // Read before the lab starts, because starting it adds load.
  const [loadBefore = 0] = loadavg();
  const lab = await labOf(flags);
  const { strategies, unavailable } = await selectStrategies(lab, flags.strategies);
  const note = await engineNote(lab, flags.engine);
  if (note) printError(note);
  const request = (strategy: string) => runRequestOf(flags, strategy);
  const job = { id: newSweepId(), strategies, repeats: flags.repeats, request };
  printError(`${lab.baseUrl}/compare?sweep=${job.id}`);
  const runs = await sweep(lab, job, process.stderr);
  const failed = [...unavailable.map(({ id, reason }) => `${id} was not measured: ${reason}`), ...failedClaims(runs)];
  const summaries = strategies.map((strategy) => summarise(strategy, runs));
  const page = resultsPage({ summaries, runs, failed, command: commandOf(process.argv.slice(2)), loadBefore });
  await mkdir(dirname(flags.out), { recursive: true });
  await writeFile(flags.out, page);
  if (flags.json) print(JSON.stringify({ broken: failed, summaries }, null, 2));
  else print(page);
  printError(`Wrote ${relative(process.cwd(), flags.out)}`);
  return failed.length === 0 ? 0 : CLAIM_FAILED;
}

/** The command line for the page, without --out and --url, which depend on this machine. */
function commandOf(argv: readonly string[]): string {
  const isLocal = (index: number) =>
    ["--out", "--url"].some((flag) => argv[index] === flag || argv[index - 1] === flag);
  return ["npm run lab --", ...argv.filter((_, index) => !isLocal(index))].join(" ");
}
