import { mkdir, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Command } from "commander";
import { summarise } from "../runs/aggregate";
import { engineNote, explainFailure, labOf } from "../runs/execute";
import { addSaleOptions, runRequestOf, type SaleFlags, strategyList, wholeNumber } from "../runs/options";
import { brokenClaims, resultsPage } from "../runs/results-page";
import { newSweepId, selectStrategies, sweep } from "../runs/sweep";
import { ROOT } from "../supervisor/paths";

interface ResultsFlags extends SaleFlags {
  readonly strategies: "all" | string[];
  readonly repeats: number;
  readonly out: string;
}

/** What the main table is about: one of each way to guard a row. `--strategies all` measures the whole catalogue. */
const MAIN_STRATEGIES = ["none", "local-mutex", "sql-guarded", "sql-optimistic", "redis-lock", "redlock", "zk-mutex"];

const BROKEN = 1;
const CANNOT_RUN = 2;

/** `npm run lab -- results`: measures every strategy under the main sale and writes docs/results.md. */
export function addResultsCommand(program: Command): void {
  const command = program
    .command("results")
    .description("measure the strategies under the main sale and write docs/results.md; exit 1 when a claim fails")
    .option("--strategies <ids>", "`all`, or ids separated by commas", strategyList, MAIN_STRATEGIES)
    .option("--repeats <n>", "runs of each, interleaved", wholeNumber(1, 100), 5)
    .option("--out <file>", "where the page is written", join(ROOT, "docs", "results.md"));
  addSaleOptions(command).action(async (flags: ResultsFlags) => {
    process.exitCode = await runResults(flags).catch((error: unknown) => {
      console.error(explainFailure(error));
      return CANNOT_RUN;
    });
  });
}

async function runResults(flags: ResultsFlags): Promise<number> {
  // Before the lab is started, which is work too.
  const [loadBefore = 0] = loadavg();
  const lab = await labOf(flags);
  const { strategies, unavailable } = await selectStrategies(lab, flags.strategies);
  const note = await engineNote(lab, flags.engine);
  if (note) console.error(note);
  const request = (strategy: string) => runRequestOf(flags, strategy);
  const order = { id: newSweepId(), strategies, repeats: flags.repeats, request };
  console.error(`${lab.baseUrl}/compare?sweep=${order.id}`);
  const runs = await sweep(lab, order, process.stderr);
  const broken = [...unavailable.map(({ id, reason }) => `${id} was not measured: ${reason}`), ...brokenClaims(runs)];
  const summaries = strategies.map((strategy) => summarise(strategy, runs));
  const page = resultsPage({ summaries, runs, broken, command: commandOf(process.argv.slice(2)), loadBefore });
  await mkdir(dirname(flags.out), { recursive: true });
  await writeFile(flags.out, page);
  if (flags.json) console.log(JSON.stringify({ broken, summaries }, null, 2));
  else console.log(page);
  console.error(`written to ${relative(process.cwd(), flags.out)}`);
  return broken.length === 0 ? 0 : BROKEN;
}

/** What was typed, for the page: without the place of the page and the way to the lab, which are this machine's. */
function commandOf(argv: readonly string[]): string {
  const isLocal = (index: number) =>
    ["--out", "--url"].some((flag) => argv[index] === flag || argv[index - 1] === flag);
  return ["npm run lab --", ...argv.filter((_, index) => !isLocal(index))].join(" ");
}
