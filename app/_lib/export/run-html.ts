import type { Interleaving } from "@/lib/history/merge-steps";
import type { Percentiles } from "@/lib/node/figures";
import type { RunDocument } from "@/lib/runs/document";
import type { RunStory } from "@/lib/runs/evidence";
import { type CheckEvidence, checkGroups } from "../checks";
import { afterText } from "../finding-text";
import {
  durationText,
  formatCount,
  formatDuration,
  formatJain,
  formatMsCell,
  formatWhen,
  NO_VALUE,
  settingText,
} from "../format";
import type { LatencyCurve } from "../latency-curves";
import { mainFiguresOf } from "../main-figures";
import { PHASE_LABELS, type RunSeries, STACK_ORDER } from "../run-series";
import { figuresOf } from "../run-view";
import { stockBarShares } from "../stock-bar";
import { timeText } from "../time-axis";
import { answersOf, evidenceOf, TONE_TEXT, toneOf, verdictText } from "../verdict";
import { interleavingTable } from "./interleaving-table";
import { type Markup, markup } from "./markup";
import { charts, holders, table } from "./run-html-charts";
import { PATTERNS, RUN_STYLE } from "./run-style";
import { storyHtml } from "./story-html";
import type { HolderView } from "./svg-timeline";

/**
 * A run as one HTML file that works offline: no requests, a table of values for every chart. Its only script is the replay of a
 * fault's story.
 */

export interface ExportedRun {
  readonly document: RunDocument;
  /** Time series at the resolution of the run's page. */
  readonly series: RunSeries;
  readonly curves: readonly LatencyCurve[];
  readonly evidence: CheckEvidence | null;
  readonly findings: readonly string[];
  /** Number of distinct findings; the file lists the first ones. */
  readonly findingCount: number;
  /** Interleaving of the first finding. */
  readonly first: Interleaving | null;
  /** What a fault did; null without a fault. */
  readonly story: RunStory | null;
  /** Timeline around the first finding; null if nothing was recorded. */
  readonly holders: HolderView | null;
}

export function runHtml(run: ExportedRun): string {
  const { document } = run;
  const story = run.story === null ? null : storyHtml(run.story);
  const scripts = story?.scriptHash ? markup` script-src '${story.scriptHash}';` : null;
  const title = `${document.strategy}: ${TONE_TEXT[toneOf(document)].toLowerCase()}`;
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';${scripts} style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>${title} · Flash Sale Lab</title>
<style>${RUN_STYLE}</style>
</head>
<body>
${PATTERNS}
<main>
${head(document)}
${verdict(document)}
${tiles(document)}
${story?.section ?? null}
${findings(run)}
${run.holders === null ? null : holders(run.holders)}
<section><h2>Over time</h2><p class="muted">${sentence(run.series.source)}</p><div class="charts">${charts(run)}</div></section>
${faults(run)}
${tables(run)}
${facts(document)}
<footer>Run <code>${document.id}</code>, written by Flash Sale Lab ${document.versions.lab ?? ""}. This file works offline.</footer>
</main>
</body>
</html>
`;
  return page.text;
}

function head({ strategy, config, target, startedAtEpochMs, durationMs }: RunDocument): Markup {
  const load =
    config.rate === null
      ? `${formatCount(config.vus)} buyers at once`
      : `${formatCount(config.rate)} buyers per second`;
  const { text, unit } = formatDuration(durationMs);
  return markup`<header class="head"><h1><code>${strategy}</code></h1>
<p>${formatCount(config.stock)} units of a ${target.kind}, ${load}, hold ${settingText(config.holdMs)}, ${config.nodes} store nodes, ${config.engine}<br>
${formatWhen(startedAtEpochMs, "utc")} UTC, duration ${text} ${unit}</p></header>`;
}

function verdict(document: RunDocument): Markup {
  const tone = toneOf(document);
  const { lead, rest } = verdictText(document);
  const { initial, orders } = document.stock;
  const { oversold } = document.violations;
  const { sold, beyond, end } = stockBarShares(initial, orders);
  const isJudged = tone !== "failed" || oversold > 0;
  const excess = isJudged
    ? markup`<span${oversold > 0 ? markup` class="alarm"` : null}><b>${oversold > 0 ? "+" : ""}${formatCount(oversold)}</b> beyond the stock</span>`
    : null;
  const bar = markup`<svg class="stock" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="${initial} in stock, ${orders} ordered">
<rect class="track" width="${end}" height="4"/><rect class="ink" width="${sold}" height="4"/><rect class="alarm" x="${end}" width="${beyond}" height="4"/></svg>`;
  return markup`<section class="verdict ${tone}" aria-label="Verdict">
<div><p class="label">Oversold</p><p class="number${oversold > 0 ? " alarm" : ""}" id="oversold">${isJudged ? formatCount(oversold) : NO_VALUE}</p></div>
<div><p class="sentence" id="verdict"><strong>${TONE_TEXT[tone]}.</strong> ${lead}</p>${bar}
<p class="words"><span><b>${formatCount(initial)}</b> in stock</span><span><b>${formatCount(orders)}</b> ordered</span>${excess}</p>
${rest.map((sentence) => markup`<p>${sentence}</p>`)}<p class="muted">${evidenceOf(document).join(" · ")}</p></div></section>`;
}

function tiles(document: RunDocument): Markup {
  const entries = mainFiguresOf(figuresOf(document, [])).map(
    ({ label, text, unit }) => markup`<div><dt>${label}</dt><dd>${text} <small>${unit}</small></dd></div>`,
  );
  return markup`<dl class="tiles">${entries}</dl>`;
}

function findings({ document, findings: sentences, findingCount, first }: ExportedRun): Markup {
  if (sentences.length === 0)
    return markup`<section><h2>Findings</h2><p class="muted">${noFindingText(document)}</p></section>`;
  const more =
    findingCount > sentences.length ? markup`<p class="muted">and ${findingCount - sentences.length} more</p>` : null;
  return markup`<section><h2>Findings</h2><ol class="findings">${sentences.map((sentence) => markup`<li>${sentence}</li>`)}</ol>${more}${first === null ? null : interleaving(first)}</section>`;
}

function noFindingText(document: RunDocument): string {
  const tone = toneOf(document);
  if (tone === "failed") return "The run failed, so its history is not judged.";
  return tone === "safe"
    ? "No violations: every check of the recorded history passed."
    : "The recorded history contains no violation.";
}

function interleaving(lines: Interleaving): Markup {
  return markup`<h3>Interleaving of the first finding</h3>${interleavingTable(lines, ({ afterNs }) => `${afterText(afterNs)} ms`)}`;
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** Injected faults with their times on the charts and the proof that each one took effect. */
function faults({ document, series: { axis, bands } }: ExportedRun): Markup | null {
  if (document.faults.length === 0) return null;
  const rows = document.faults.map(({ faultId, proof }, index) => {
    const band = bands[index];
    const when = band ? `${timeText(axis, band.fromS)} to ${timeText(axis, band.toS)}` : NO_VALUE;
    return markup`<li><code>${faultId}</code> <span class="muted">${when}</span> ${proof}</li>`;
  });
  return markup`<section aria-label="Faults"><h2>Faults</h2><ul class="faults">${rows}</ul></section>`;
}

function tables({ document, evidence }: ExportedRun): Markup {
  const cells = ({ p50, p90, p95, p99, p999, max }: Percentiles) => [p50, p90, p95, p99, p999, max].map(formatMsCell);
  const phases = STACK_ORDER.map((phase) => [PHASE_LABELS[phase], ...cells(document.phasesMs[phase])]);
  const isBuyersView = document.latencySource === "client";
  const whole = [
    isBuyersView ? "whole purchase, as the buyers saw it" : "inside the node",
    ...cells(document.latencyMs),
  ];
  const nodes = document.nodes.map(({ node, counts, peakInFlight, peakWaiters, latencyMs }) => [
    node,
    ...[counts.requests, counts.sold, peakInFlight, peakWaiters].map(formatCount),
    formatMsCell(latencyMs.p50),
    formatMsCell(latencyMs.p99),
  ]);
  const checks = checkGroups(document, evidence).flatMap(({ rows }) =>
    rows.map(({ label, result, absence, note }) => [label, result ?? absence, note]),
  );
  return markup`<div class="charts">
<section><h2>The phases of a purchase, ms</h2>${table(["phase", "p50", "p90", "p95", "p99", "p99.9", "max"], [...phases, whole])}</section>
<section><h2>Node by node</h2>${table(["node", "requests", "sold", "peak in flight", "peak waiting", "p50 node ms", "p99 node ms"], nodes)}<p class="muted">${answersOf(document.counts, document.refusedStaleWrites).join(" · ")}</p></section>
<section class="checks"><h2>The checks</h2>${table(["check", "found", "what it counts"], checks)}</section>
</div>`;
}

function facts({ config, versions, machine, contention, fairness }: RunDocument): Markup {
  const entries: [string, string][] = [
    ["Lease", settingText(config.ttlMs)],
    ["Wait timeout", settingText(config.waitTimeoutMs)],
    ["Seed", String(config.seed)],
    ["Purchases not sent", formatCount(contention.droppedIterations)],
    ["Fairness of waits (Jain)", formatJain(fairness.jain)],
    ["Longest wait", durationText(fairness.longestWaitMs)],
    ...Object.entries(versions),
    ["Processors", `${machine.cpus} × ${machine.cpuModel}`],
    ["Memory", `${formatCount(machine.memoryMb)} MB`],
    ["System", machine.os],
  ];
  return markup`<section><h2>Settings, versions and machine</h2><dl class="facts">${entries.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}
