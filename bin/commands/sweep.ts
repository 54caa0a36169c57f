import type { Command } from "commander";
import { rerunRequest } from "../../lib/runs/rerun-request";
import { MAX_RUNS, newSweepId, type SweepDocument } from "../../lib/runs/sweep";
import { type StrategySummary, spreadText, summarise, verdictText } from "../runs/aggregate";
import { engineNote, explainFailure, labOf } from "../runs/execute";
import { type LabAddress, listSweeps, readSweep } from "../runs/lab-client";
import {
  addSaleOptions,
  refuseContradictions,
  refuseSettingsBeside,
  runRequestOf,
  type SaleFlags,
  strategyList,
  wholeNumber,
} from "../runs/options";
import { isAsExpected, type SweepJob, type SweepRun, selectStrategies, sweep } from "../runs/sweep";
import { print, printError } from "../shared/terminal";

interface SweepFlags extends SaleFlags {
  readonly strategies: "all" | string[];
  readonly repeats: number;
  readonly resume?: true | string;
}

const DIFFERENT = 1;
const CANNOT_RUN = 2;
const BY_SIGNAL = 128;

/** `npm run lab -- sweep --strategies all --repeats 3 …`: several strategies under the same sale. */
export function addSweepCommand(program: Command): void {
  const command = program
    .command("sweep")
    .description(
      "run several strategies under the same sale; exit code 0 if every verdict is as expected, 1 if not, 2 if it cannot run",
    )
    .option("--strategies <ids>", "`all`, or ids separated by commas", strategyList, "all")
    .option("--repeats <n>", "runs of each strategy, interleaved", wholeNumber(1, 100), 1)
    .option("--resume [id]", "resume an interrupted sweep (default: the newest one)");
  addSaleOptions(command).action(async (flags: SweepFlags) => {
    process.exitCode = await runSweep(flags, command).catch((error: unknown) => {
      printError(explainFailure(error));
      return CANNOT_RUN;
    });
  });
}

/** Strategies that `all` leaves out, each with the reason. */
type Unavailable = readonly { readonly id: string; readonly reason: string }[];

async function runSweep(flags: SweepFlags, command: Command): Promise<number> {
  refuseContradictions(flags);
  if (flags.resume !== undefined) refuseSettingsBeside("--resume", command, ["resume", "url", "json"]);
  const lab = await labOf(flags);
  const { job, unavailable } = flags.resume === undefined ? await newJob(lab, flags) : await resumed(lab, flags.resume);
  const pageUrl = `${lab.baseUrl}/compare?sweep=${job.id}`;
  const stopListening = printResumeOnSignal(job.id);
  printError(`sweep ${job.id}: ${job.strategies.length} strategies, ${job.repeats} runs of each\n${pageUrl}`);
  const runs = await sweep(lab, job, process.stderr).finally(stopListening);
  const summaries = job.strategies.map((strategy) => summarise(strategy, runs));
  const areAllExpected = runs.length > 0 && runs.every(isAsExpected);
  if (flags.json) {
    const report = { sweepId: job.id, pageUrl, areAllExpected, summaries, unavailable, runs };
    print(JSON.stringify(report, null, 2));
  } else print(`${tableOf(summaries)}\n\n${closing(job, runs, pageUrl)}`);
  return areAllExpected ? 0 : DIFFERENT;
}

async function newJob(lab: LabAddress, flags: SweepFlags): Promise<{ job: SweepJob; unavailable: Unavailable }> {
  const { strategies, unavailable } = await selectStrategies(lab, flags.strategies);
  if (strategies.length * flags.repeats > MAX_RUNS) throw new Error(`A sweep has at most ${MAX_RUNS} runs.`);
  for (const { id, reason } of unavailable) printError(`${id} is left out. ${reason}`);
  const note = await engineNote(lab, flags.engine);
  if (note) printError(note);
  const request = (strategy: string) => runRequestOf(flags, strategy);
  return { job: { id: newSweepId(), strategies, repeats: flags.repeats, request }, unavailable };
}

/** An interrupted sweep, with the settings of its first run. */
async function resumed(lab: LabAddress, wanted: true | string): Promise<{ job: SweepJob; unavailable: Unavailable }> {
  const id = wanted === true ? (await listSweeps(lab)).find(({ done, total }) => done < total)?.id : wanted;
  if (id === undefined) throw new Error("There is no sweep to resume: every sweep of this lab is complete.");
  const known = await readSweep(lab, id);
  const settings = firstRunOf(known);
  if (known === null || settings === null)
    throw new Error(`This lab has no sweep ${id}. Its sweeps are listed on ${lab.baseUrl}/compare.`);
  const { strategies, repeats } = known;
  const request = (strategy: string) => ({ ...rerunRequest(settings), strategy });
  return { job: { id, strategies, repeats, request }, unavailable: [] };
}

function firstRunOf(known: SweepDocument | null) {
  return known?.cells.find(({ run }) => run !== null)?.run ?? null;
}

/** The lab finishes the current run after an interrupt. `--resume` makes the remaining runs. */
function printResumeOnSignal(sweepId: string): () => void {
  const end = (signal: NodeJS.Signals) => {
    printError(`\nInterrupted. Resume with: npm run lab -- sweep --resume ${sweepId}`);
    process.exit(BY_SIGNAL + (signal === "SIGINT" ? 2 : 15));
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  return () => process.off("SIGINT", end).off("SIGTERM", end);
}

function closing(job: SweepJob, runs: readonly SweepRun[], pageUrl: string): string {
  const missing = runs.filter(({ document }) => document?.status !== "finished").length;
  const compare = `Comparison with confidence intervals: ${pageUrl}`;
  if (missing === 0) return compare;
  return `${missing} of ${runs.length} runs are missing. Resume with: npm run lab -- sweep --resume ${job.id}\n${compare}`;
}

function tableOf(summaries: readonly StrategySummary[]): string {
  const head = [
    "strategy",
    "verdict",
    "expected",
    "oversold",
    "lost updates",
    "orders",
    "deliverable/s",
    "buyer p50 ms",
    "buyer p99 ms",
  ];
  const rows = summaries.map((summary) => [
    summary.strategy,
    verdictText(summary),
    summary.expected ?? "-",
    spreadText(summary.oversold),
    spreadText(summary.lostUpdates),
    spreadText(summary.orders),
    spreadText(summary.soldPerSecond),
    spreadText(summary.buyerP50Ms),
    spreadText(summary.buyerP99Ms),
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
