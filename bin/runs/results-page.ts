import type { RunDocument } from "../../lib/runs/document";
import { type StrategySummary, spreadText, verdictText } from "./aggregate";
import type { SweepRun } from "./sweep";

/** docs/results.md: what `npm run lab -- results` measured, and whether what must hold did. */

/** A run of the main table may take this long, from asking for it to its verdict. */
export const RUN_LIMIT_MS = 60_000;

/**
 * What the measured runs must show. Every sentence is a failure; none means that all holds.
 * `unsafe` strategies must oversell in every run, `safe` ones sell exactly their stock in every run.
 */
export function brokenClaims(runs: readonly SweepRun[]): string[] {
  return runs.flatMap((run) => {
    const name = `${run.strategy}, run ${run.repeat}`;
    const { document } = run;
    if (document === null) return [`${name}: ${run.problem ?? "it was not made"}`];
    const broken = claimsOf(document).filter(([holds]) => !holds);
    const elapsedMs = run.elapsedMs ?? 0;
    if (elapsedMs > RUN_LIMIT_MS) broken.push([false, `it took ${Math.round(elapsedMs / 1_000)} s`]);
    return broken.map(([, sentence]) => `${name}: ${sentence}`);
  });
}

function claimsOf(document: RunDocument): [boolean, string][] {
  const { status, verdict, expected, violations, stock, sentences } = document;
  const common: [boolean, string][] = [
    [status === "finished", `the run is ${status}: ${sentences[0] ?? ""}`],
    [verdict === expected, `the verdict is ${verdict}, not ${expected}: ${sentences[0] ?? ""}`],
  ];
  if (expected === "unsafe") return [...common, [violations.oversold > 0, "nothing was oversold"]];
  return [...common, [stock.orders === stock.initial, `${stock.orders} orders for ${stock.initial} units`]];
}

export interface ResultsContext {
  readonly summaries: readonly StrategySummary[];
  readonly runs: readonly SweepRun[];
  readonly broken: readonly string[];
  /** The command that measured, for the reader to repeat it. */
  readonly command: string;
  /** The machine's load average over the minute before the first run: what else it was busy with. */
  readonly loadBefore: number;
}

export function resultsPage({ summaries, runs, broken, command, loadBefore }: ResultsContext): string {
  const sample = runs.flatMap(({ document }) => (document === null ? [] : [document]))[0];
  const lines = [
    "# Results",
    "",
    `Written by \`${command}\`; do not edit by hand.`,
    "",
    ...(sample ? circumstances(sample, { runs, loadBefore }) : ["No run could be made."]),
    "",
    "| strategy | verdict | oversold | lost updates | orders | sold/s | p50 ms | p99 ms |",
    "|---|---|---|---|---|---|---|---|",
    ...summaries.map(row),
    "",
    "A cell is the median of the runs and, where they differ, the smallest and the largest. Latency is the buyer's:",
    "from the instant the doors opened to the answer, over all buyers, so it holds the queue of everyone in front.",
    "sold/s counts orders, oversold ones included: a strategy that sells what it does not have looks fast.",
    "",
    "## What must hold",
    "",
    ...(broken.length === 0 ? [claimText(summaries)] : broken.map((sentence) => `- FAILED: ${sentence}`)),
    "",
  ];
  return lines.join("\n");
}

function circumstances(
  sample: RunDocument,
  { runs, loadBefore }: Pick<ResultsContext, "runs" | "loadBefore">,
): string[] {
  const { config, machine, versions } = sample;
  const startedAt = new Date(sample.startedAtEpochMs).toISOString().slice(0, 10);
  const engines = new Set(runs.flatMap(({ document }) => document?.client?.engine ?? []));
  const services = Object.entries(versions).filter(([name]) => name !== "lab");
  const load = config.rate === null ? `${config.vus} buyers at one instant` : `${config.rate} buyers a second`;
  return [
    `- Sale: ${config.stock} units, ${load}, ${config.nodes} store nodes, ${config.holdMs} ms of work per purchase`,
    `- Version: ${versions.lab ?? "unknown"}, ${startedAt}`,
    `- Machine: ${machine.cpus} x ${machine.cpuModel}, ${Math.round(machine.memoryMb / 1_024)} GB, ${machine.os}; stores, servers and load share it`,
    `- Load average before: ${loadBefore.toFixed(2)}${loadBefore > machine.cpus / 2 ? " (high before the first run: the times say little)" : ""}`,
    `- Load: ${[...engines].join(", ") || config.engine}`,
    `- With: ${services.map(([name, version]) => `${name} ${version}`).join(", ")}`,
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
    spreadText(summary.p50Ms),
    spreadText(summary.p99Ms),
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
  return `All of it: ${parts.join("; ")}; each run within ${RUN_LIMIT_MS / 1_000} s.`;
}
