import type { Command } from "commander";
import { rerunRequest } from "../../lib/runs/rerun-request";
import type { SweepDocument } from "../../lib/runs/sweep";
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
import {
  isAsExpected,
  MAX_RUNS,
  newSweepId,
  type SweepOrder,
  type SweepRun,
  selectStrategies,
  sweep,
} from "../runs/sweep";

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
    .description("run several strategies under the same sale; exit 0 when every verdict is the expected one, else 1")
    .option("--strategies <ids>", "`all`, or ids separated by commas", strategyList, "all")
    .option("--repeats <n>", "runs of each, interleaved", wholeNumber(1, 100), 1)
    .option("--resume [id]", "go on with a sweep that was interrupted (default: the newest such)");
  addSaleOptions(command).action(async (flags: SweepFlags) => {
    process.exitCode = await runSweep(flags, command).catch((error: unknown) => {
      console.error(explainFailure(error));
      return CANNOT_RUN;
    });
  });
}

/** Strategies that `all` leaves out here, each with its reason. */
type Unavailable = readonly { readonly id: string; readonly reason: string }[];

async function runSweep(flags: SweepFlags, command: Command): Promise<number> {
  refuseContradictions(flags);
  if (flags.resume !== undefined) refuseSettingsBeside("--resume", command, ["resume", "url", "json"]);
  const lab = await labOf(flags);
  const { order, unavailable } =
    flags.resume === undefined ? await newOrder(lab, flags) : await resumed(lab, flags.resume);
  const pageUrl = `${lab.baseUrl}/compare?sweep=${order.id}`;
  const forget = sayHowToGoOn(order.id);
  console.error(`sweep ${order.id}: ${order.strategies.length} strategies, ${order.repeats} runs of each\n${pageUrl}`);
  const runs = await sweep(lab, order, process.stderr).finally(forget);
  const summaries = order.strategies.map((strategy) => summarise(strategy, runs));
  const areAllExpected = runs.length > 0 && runs.every(isAsExpected);
  if (flags.json) {
    console.log(JSON.stringify({ sweepId: order.id, pageUrl, areAllExpected, summaries, unavailable, runs }, null, 2));
  } else console.log(`${tableOf(summaries)}\n\n${closing(order, runs, pageUrl)}`);
  return areAllExpected ? 0 : DIFFERENT;
}

async function newOrder(lab: LabAddress, flags: SweepFlags): Promise<{ order: SweepOrder; unavailable: Unavailable }> {
  const { strategies, unavailable } = await selectStrategies(lab, flags.strategies);
  if (strategies.length * flags.repeats > MAX_RUNS) throw new Error(`A sweep has at most ${MAX_RUNS} runs.`);
  for (const { id, reason } of unavailable) console.error(`${id} is left out: ${reason}`);
  const note = await engineNote(lab, flags.engine);
  if (note) console.error(note);
  const request = (strategy: string) => runRequestOf(flags, strategy);
  return { order: { id: newSweepId(), strategies, repeats: flags.repeats, request }, unavailable };
}

/** A sweep that has begun, with the settings of its own first run. */
async function resumed(
  lab: LabAddress,
  wanted: true | string,
): Promise<{ order: SweepOrder; unavailable: Unavailable }> {
  const id = wanted === true ? (await listSweeps(lab)).find(({ done, total }) => done < total)?.id : wanted;
  if (id === undefined) throw new Error("No sweep was interrupted: all that this lab knows of are complete.");
  const known = await readSweep(lab, id);
  const settings = firstRunOf(known);
  if (known === null || settings === null) throw new Error(`This lab has no sweep ${id}.`);
  const { strategies, repeats } = known;
  const request = (strategy: string) => ({ ...rerunRequest(settings), strategy });
  return { order: { id, strategies, repeats, request }, unavailable: [] };
}

function firstRunOf(known: SweepDocument | null) {
  return known?.cells.find(({ run }) => run !== null)?.run ?? null;
}

/** A run that is on its way belongs to the lab and comes to its end there; what is left is made by `--resume`. */
function sayHowToGoOn(sweepId: string): () => void {
  const end = (signal: NodeJS.Signals) => {
    console.error(`\nInterrupted. Go on with: npm run lab -- sweep --resume ${sweepId}`);
    process.exit(BY_SIGNAL + (signal === "SIGINT" ? 2 : 15));
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  return () => process.off("SIGINT", end).off("SIGTERM", end);
}

function closing(order: SweepOrder, runs: readonly SweepRun[], pageUrl: string): string {
  const missing = runs.filter(({ document }) => document?.status !== "finished").length;
  const compare = `Side by side, with intervals: ${pageUrl}`;
  if (missing === 0) return compare;
  return `${missing} of ${runs.length} runs are missing: npm run lab -- sweep --resume ${order.id}\n${compare}`;
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
