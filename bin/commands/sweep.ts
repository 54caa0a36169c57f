import type { Command } from "commander";
import { type StrategySummary, spreadText, summarise, verdictText } from "../runs/aggregate";
import { engineNote, explainFailure, labOf } from "../runs/execute";
import { addSaleOptions, refuseContradictions, type SaleFlags, strategyList, wholeNumber } from "../runs/options";
import { isAsExpected, MAX_RUNS, selectStrategies, sweep } from "../runs/sweep";

interface SweepFlags extends SaleFlags {
  readonly strategies: "all" | string[];
  readonly repeats: number;
}

const DIFFERENT = 1;
const CANNOT_RUN = 2;

/** `npm run lab -- sweep --strategies all --repeats 3 …`: several strategies under the same sale. */
export function addSweepCommand(program: Command): void {
  const command = program
    .command("sweep")
    .description("run several strategies under the same sale; exit 0 when every verdict is the expected one, else 1")
    .option("--strategies <ids>", "`all`, or ids separated by commas", strategyList, "all")
    .option("--repeats <n>", "runs of each", wholeNumber(1, 100), 1);
  addSaleOptions(command).action(async (flags: SweepFlags) => {
    process.exitCode = await runSweep(flags).catch((error: unknown) => {
      console.error(explainFailure(error));
      return CANNOT_RUN;
    });
  });
}

async function runSweep(flags: SweepFlags): Promise<number> {
  refuseContradictions(flags);
  const lab = await labOf(flags);
  const { strategies, unavailable } = await selectStrategies(lab, flags.strategies);
  if (strategies.length * flags.repeats > MAX_RUNS) throw new Error(`A sweep has at most ${MAX_RUNS} runs.`);
  for (const { id, reason } of unavailable) console.error(`${id} is left out: ${reason}`);
  const note = await engineNote(lab, flags.engine);
  if (note) console.error(note);
  const runs = await sweep(lab, { strategies, repeats: flags.repeats, flags }, process.stderr);
  const summaries = strategies.map((strategy) => summarise(strategy, runs));
  const areAllExpected = runs.length > 0 && runs.every(isAsExpected);
  if (flags.json) console.log(JSON.stringify({ areAllExpected, summaries, unavailable, runs }, null, 2));
  else console.log(tableOf(summaries));
  return areAllExpected ? 0 : DIFFERENT;
}

function tableOf(summaries: readonly StrategySummary[]): string {
  const head = ["strategy", "verdict", "expected", "oversold", "lost updates", "orders", "sold/s", "p50 ms", "p99 ms"];
  const rows = summaries.map((summary) => [
    summary.strategy,
    verdictText(summary),
    summary.expected ?? "-",
    spreadText(summary.oversold),
    spreadText(summary.lostUpdates),
    spreadText(summary.orders),
    spreadText(summary.soldPerSecond),
    spreadText(summary.p50Ms),
    spreadText(summary.p99Ms),
  ]);
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
