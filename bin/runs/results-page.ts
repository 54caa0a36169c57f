import type { RunDocument } from "../../lib/runs/document";
import { type StrategySummary, spreadText, verdictText } from "./aggregate";
import type { SweepRun } from "./sweep";

/** docs/results.md: the measurements of `npm run lab -- results`, and the claims that they must confirm. */

/** Limit of a run of the main table, from the request to the verdict. */
export const RUN_LIMIT_MS = 60_000;

/**
 * Each failed claim as a sentence; empty if all claims hold. Unsafe strategies must oversell in every run, safe strategies must sell
 * exactly their stock in every run.
 */
export function failedClaims(runs: readonly SweepRun[]): string[] {
  return runs.flatMap((run) => {
    const name = `${run.strategy}, run ${run.repeat}`;
    const { document } = run;
    if (document === null) return [`${name}: ${run.problem ?? "the run was not made"}`];
    const failed = claimsOf(document).filter(([holds]) => !holds);
    const elapsedMs = run.elapsedMs ?? 0;
    if (elapsedMs > RUN_LIMIT_MS)
      failed.push([false, `the run took ${Math.round(elapsedMs / 1_000)} s, more than ${RUN_LIMIT_MS / 1_000} s`]);
    return failed.map(([, sentence]) => `${name}: ${sentence}`);
  });
}

function claimsOf(document: RunDocument): [boolean, string][] {
  const { status, verdict, expected, violations, stock, sentences } = document;
  const common: [boolean, string][] = [
    [status === "finished", `the run is ${status}: ${sentences[0] ?? ""}`],
    [verdict === expected, `expected the verdict ${expected}, found ${verdict}: ${sentences[0] ?? ""}`],
  ];
  if (expected === "unsafe") return [...common, [violations.oversold > 0, "expected an oversell, found none"]];
  return [...common, [stock.orders === stock.initial, `expected ${stock.initial} orders, found ${stock.orders}`]];
}

export interface ResultsContext {
  readonly summaries: readonly StrategySummary[];
  readonly runs: readonly SweepRun[];
  readonly failed: readonly string[];
  /** The command that measured, so that the reader can repeat it. */
  readonly command: string;
  /** The machine's load average over the minute before the first run, to show what else it was running. */
  readonly loadBefore: number;
}

export function resultsPage({ summaries, runs, failed, command, loadBefore }: ResultsContext): string {
  const sample = runs.flatMap(({ document }) => (document === null ? [] : [document]))[0];
  const lines = [
    "# Results",
    "",
    `\`${command}\` writes this page; do not edit it by hand.`,
    "",
    ...(sample ? circumstances(sample, { runs, loadBefore }) : ["No run could be made."]),
    "",
    ...tableOf(summaries.filter(isRanked)),
    ...unrankedPart(summaries.filter((summary) => !isRanked(summary))),
    "Each cell is the median of the runs, with the smallest and the largest value if they differ. Latency is measured by the buyers,",
    "from the start of the sale to the answer, so it includes the wait behind other buyers. deliverable/s counts the units sold that",
    "can be delivered: orders beyond the stock do not count.",
    "",
    "## Claims",
    "",
    ...(failed.length === 0 ? [claimText(summaries)] : failed.map((sentence) => `- FAILED: ${sentence}`)),
    "",
  ];
  return lines.join("\n");
}

/** Whether every run of the strategy was safe; only then its speed is comparable. */
function isRanked({ verdicts, runs }: StrategySummary): boolean {
  return runs > 0 && verdicts.safe === runs;
}

function tableOf(summaries: readonly StrategySummary[]): string[] {
  if (summaries.length === 0) return [];
  return [
    "| strategy | verdict | oversold | lost updates | orders | deliverable/s | buyer p50 ms | buyer p99 ms |",
    "|---|---|---|---|---|---|---|---|",
    ...summaries.map(row),
    "",
  ];
}

function unrankedPart(summaries: readonly StrategySummary[]): string[] {
  if (summaries.length === 0) return [];
  return [
    "Not safe in every run. A strategy that breaks a promise skips work that the others do, so its speed has no rank:",
    "",
    ...tableOf(summaries),
  ];
}

function circumstances(
  sample: RunDocument,
  { runs, loadBefore }: Pick<ResultsContext, "runs" | "loadBefore">,
): string[] {
  const { config, machine, versions } = sample;
  const startedAt = new Date(sample.startedAtEpochMs).toISOString().slice(0, 10);
  const engines = new Set(runs.flatMap(({ document }) => document?.client?.engine ?? []));
  const services = Object.entries(versions).filter(([name]) => name !== "lab");
  const load = config.rate === null ? `${config.vus} buyers at one instant` : `${config.rate} buyers per second`;
  return [
    `- Sale: ${config.stock} units, ${load}, ${config.nodes} store nodes, ${config.holdMs} ms of work per purchase`,
    `- Version: ${versions.lab ?? "unknown"}, ${startedAt}`,
    `- Machine: ${machine.cpus} x ${machine.cpuModel}, ${Math.round(machine.memoryMb / 1_024)} GB, ${machine.os}; store nodes, servers and load generator share it`,
    `- Load average before the first run: ${loadBefore.toFixed(2)}${loadBefore > machine.cpus / 2 ? " (high, so the times are not reliable)" : ""}`,
    `- Load generator: ${[...engines].join(", ") || config.engine}`,
    `- Versions: ${services.map(([name, version]) => `${name} ${version}`).join(", ")}`,
  ];
}

function row(summary: StrategySummary): string {
  const cells = [
    `\`${summary.strategy}\``,
    verdictText(summary),
    spreadText(summary.oversold),
    spreadText(summary.lostUpdates),
    spreadText(summary.orders),
    spreadText(summary.soldPerSecond),
    spreadText(summary.buyerP50Ms),
    spreadText(summary.buyerP99Ms),
  ];
  return `| ${cells.join(" | ")} |`;
}

function claimText(summaries: readonly StrategySummary[]): string {
  const names = (expected: string) =>
    summaries.filter((summary) => summary.expected === expected).map(({ strategy }) => `\`${strategy}\``);
  const unsafe = names("unsafe");
  const safe = names("safe");
  const parts = [
    ...(unsafe.length > 0 ? [`${unsafe.join(" and ")} oversold in every run`] : []),
    ...(safe.length > 0 ? [`${safe.join(", ")} sold exactly their stock in every run`] : []),
  ];
  return `All claims hold: ${parts.join("; ")}; each run ended within ${RUN_LIMIT_MS / 1_000} s.`;
}
