import { printable } from "./printable.js";

/** The report to the lab and the text printed at the end. Pure functions, so that tests run outside k6. */

/** @typedef {import("../../lib/runs/document").RunDocument} RunDocument */
/** @typedef {import("../../lib/runs/client-report").ClientReport} ClientReport */
/** @typedef {import("../../lib/node/figures").Percentiles} Percentiles */
/** @typedef {{ values: Record<string, number>, thresholds?: Record<string, { ok: boolean }> }} MetricSummary */
/** @typedef {Record<string, MetricSummary | undefined>} Metrics */

const NAMED_STATS = ["min", "med", "p(90)", "p(95)", "p(99)", "p(99.9)", "max"];

/** The buyers' curve, eight places in each decade up to 99.99 %; the lab's own are in lib/node/curve-percentiles.ts. */
export const CURVE_PERCENTILES = [
  ...Array.from({ length: 33 }, (_, at) => Number((100 * (1 - 10 ** (-at / 8))).toFixed(4))),
  50,
  95,
].sort((a, b) => a - b);

/** The statistics that k6 computes for every trend. */
export const TREND_STATS = [...new Set([...NAMED_STATS, ...CURVE_PERCENTILES.map(statOf)])];

/** @param {number} percentile */
function statOf(percentile) {
  return percentile === 0 ? "min" : `p(${percentile})`;
}

/**
 * @param {Metrics} metrics
 * @param {string} name
 */
function count(metrics, name) {
  return Math.max(0, Math.round(metrics[name]?.values.count ?? 0));
}

/**
 * @param {MetricSummary | undefined} trend
 * @returns {Percentiles}
 */
function percentilesOf(trend) {
  /** @param {string} stat */
  const at = (stat) => trend?.values[stat] ?? null;
  return { p50: at("med"), p90: at("p(90)"), p95: at("p(95)"), p99: at("p(99)"), p999: at("p(99.9)"), max: at("max") };
}

/**
 * @param {MetricSummary | undefined} trend
 * @returns {ClientReport["curve"]} undefined without measurements
 */
function curveOf(trend) {
  let highestMs = 0;
  const points = CURVE_PERCENTILES.flatMap((percentile) => {
    const ms = trend?.values[statOf(percentile)];
    if (ms === undefined) return [];
    // k6 interpolates between two purchases, so rounding can make a percentile fall slightly below the one before.
    highestMs = Math.max(highestMs, ms);
    return [{ percentile, ms: highestMs }];
  });
  return points.length === 0 ? undefined : points;
}

/**
 * @param {Metrics} metrics of handleSummary's data
 * @param {{ engineName: string, doorsOpen: boolean }} run
 * @returns {ClientReport}
 */
export function clientReportOf(metrics, run) {
  const lag = metrics.start_lag?.values;
  const skewMs = run.doorsOpen && lag?.max !== undefined && lag.min !== undefined ? lag.max - lag.min : null;
  return {
    engine: run.engineName,
    iterations: count(metrics, "purchases"),
    droppedIterations: count(metrics, "dropped_iterations"),
    failedRequests: count(metrics, "unanswered"),
    arrivalSkewMs: skewMs,
    latencyMs: percentilesOf(metrics.buyer_latency),
    curve: curveOf(metrics.buyer_latency),
    generatorLagP99Ms: lag?.["p(99)"],
  };
}

/** @param {number | null | undefined} ms */
export function formatMs(ms) {
  if (ms === null || ms === undefined) return "-";
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;
}

/** @param {[string, string][]} rows */
function block(rows) {
  return rows.map(([label, text]) => `  ${`${label} `.padEnd(16)}${text}`);
}

/** @param {Percentiles} latencyMs */
function latencyLine(latencyMs) {
  const { p50, p90, p95, p99, p999, max } = latencyMs;
  return Object.entries({ p50, p90, p95, p99, "p99.9": p999, max })
    .map(([name, ms]) => `${name} ${formatMs(ms)}`)
    .join("   ");
}

/** @param {RunDocument} document */
function headline(document) {
  const { config, target } = document;
  const buyers =
    config.rate === null ? `${config.vus} buyers` : `${config.rate} buyers/s for ${formatMs(config.durationMs)}`;
  const nodes = `${config.nodes} ${config.nodes === 1 ? "node" : "nodes"}`;
  return `${document.strategy}: ${buyers}, ${config.stock} units (${target.kind} ${target.id}), ${nodes}, hold ${config.holdMs} ms`;
}

/** @param {RunDocument} document */
function nodeTable(document) {
  const head = `  ${"node".padEnd(12)}${"requests".padStart(9)}${"sold".padStart(7)}${"node p50".padStart(11)}${"node p99".padStart(11)}`;
  const rows = document.nodes.map(({ node, counts, latencyMs }) => {
    const figures = `${String(counts.requests).padStart(9)}${String(counts.sold).padStart(7)}`;
    return `  ${node.padEnd(12)}${figures}${formatMs(latencyMs.p50).padStart(11)}${formatMs(latencyMs.p99).padStart(11)}`;
  });
  return rows.length === 0 ? [] : ["", head, ...rows];
}

/**
 * The faults of the run, each with its proof.
 * @param {RunDocument} document
 * @returns {[string, string][]}
 */
function faultRows({ faults, missedFaults = [] }) {
  return [
    ...faults.map(({ faultId, proof }) => /** @type {[string, string]} */ ([faultId, proof])),
    ...missedFaults.map(({ faultId }) => /** @type {[string, string]} */ ([faultId, "not seen to take effect"])),
  ];
}

/** @param {RunDocument} document */
function answersLine(document) {
  const { counts } = document;
  const parts = [`${counts.sold} sold`, `${counts.soldOut} sold out`, `${counts.contended} contended`];
  if (counts.rejected > 0) parts.push(`${counts.rejected} rejected`);
  if (counts.errors > 0) parts.push(`${counts.errors} errors`);
  if (counts.unknown > 0) parts.push(`${counts.unknown} unknown`);
  return parts.join(", ");
}

/** @param {ClientReport} client */
function generatorLine({ generatorLagP99Ms: lagMs, generatorCpuPercent: percent, generatorCpuUnknown: why }) {
  const late = lagMs === undefined ? "delay not known" : `sent purchases up to ${formatMs(lagMs)} late (p99)`;
  const used = percent === undefined ? `CPU use not known${why ? `: ${why}` : ""}` : `used ${percent} % of a core`;
  return `${late}, ${used}`;
}

/**
 * The report of one run as text.
 * @param {RunDocument} document
 * @param {{ pageUrl: string, resultFile?: string, failedThresholds?: string[] }} context
 */
export function reportText(document, context) {
  const { violations, stock, contention, client, throughput } = document;
  /** @type {[string, string][]} */
  const generator = client
    ? [
        [
          "generator",
          `${client.engine}: ${client.iterations} sent, ${client.droppedIterations} dropped, ${client.failedRequests} without answer`,
        ],
        ["", generatorLine(client)],
      ]
    : [];
  const sold = throughput.soldPerSecond === null ? "-" : `${Math.round(throughput.soldPerSecond)} deliverable units/s`;
  const lines = [
    "",
    `  ${headline(document)}`,
    "",
    ...block([
      ["oversold", String(violations.oversold)],
      ["lost updates", String(violations.lostUpdates)],
      ["orders", `${stock.orders} for ${stock.initial} units, ${stock.final} left`],
      ...faultRows(document),
      ["verdict", `${document.verdict} (expected ${document.expected})`],
      ...document.sentences.map((sentence) => /** @type {[string, string]} */ (["", sentence])),
    ]),
    "",
    ...block([
      [`${document.latencySource === "client" ? "buyer" : "node"} latency`, latencyLine(document.latencyMs)],
      ["arrival skew", formatMs(contention.arrivalSkewMs)],
      ["answers", answersLine(document)],
      ["throughput", sold],
      ...generator,
    ]),
    ...nodeTable(document),
    "",
    ...block([
      ["page", context.pageUrl],
      ...(context.resultFile ? [/** @type {[string, string]} */ (["document", context.resultFile])] : []),
      ...(context.failedThresholds ?? []).map((name) => /** @type {[string, string]} */ (["FAILED", name])),
    ]),
    "",
  ];
  return printable(lines.join("\n"));
}

/**
 * @param {Metrics} metrics
 * @returns {string[]} `metric: threshold` of the crossed thresholds
 */
export function failedThresholdsOf(metrics) {
  return Object.entries(metrics).flatMap(([name, metric]) =>
    Object.entries(metric?.thresholds ?? {})
      .filter(([, { ok }]) => !ok)
      .map(([source]) => `${name}: ${source}`),
  );
}
