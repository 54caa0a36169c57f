/**
 * The flash sale under k6: opens a run in the lab, sends the purchases, closes the run and prints the result.
 * `k6 run -e LOCK_STRATEGY=none load-tests/flash-sale.js`; all settings are in load-tests/README.md.
 */
import { sleep } from "k6";
import exec from "k6/execution";
import http from "k6/http";
import { Counter } from "k6/metrics";
import { finishRun, openRun, storeUrls } from "./lib/lab.js";
import { buy, prepare } from "./lib/purchase.js";
import { clientReportOf, failedThresholdsOf, reportText, TREND_STATS } from "./lib/report.js";
import { latenessLimitMs, readSettings } from "./lib/settings.js";

/** @typedef {import("./lib/purchase.js").Sale} Sale */

const settings = readSettings(__ENV);
const doorsOpen = settings.ratePerSecond === null;
/** The wait for the lock and the work, plus slack for a loaded machine. */
const requestTimeoutMs = settings.waitTimeoutMs + settings.holdMs + 20_000;

const runClosed = new Counter("run_judged");
const oversold = new Counter("oversold");
const lostUpdates = new Counter("lost_updates");
const unexpectedOversold = new Counter("unexpected_oversold");
const unexpectedLostUpdates = new Counter("unexpected_lost_updates");
const unexpectedUnsafe = new Counter("unexpected_unsafe");

/** @returns {import("k6/options").Scenario} */
function scenario() {
  const graceful = /** @type {const} */ ({ gracefulStop: `${requestTimeoutMs}ms` });
  if (settings.ratePerSecond === null) {
    const maxDuration = `${openingLeadMs() + requestTimeoutMs}ms`;
    return { executor: "per-vu-iterations", vus: settings.buyers, iterations: 1, maxDuration, ...graceful };
  }
  return {
    executor: "constant-arrival-rate",
    rate: settings.ratePerSecond,
    timeUnit: "1s",
    duration: `${settings.durationMs}ms`,
    preAllocatedVUs: settings.maxVus,
    maxVUs: settings.maxVus,
    ...graceful,
  };
}

/** @type {import("k6/options").Options} */
export const options = {
  scenarios: { sale: scenario() },
  summaryTrendStats: TREND_STATS,
  setupTimeout: "60s",
  teardownTimeout: "60s",
  thresholds: {
    // Proves that the lab closed the run. Without it, the zero counts below would pass if the lab did not answer.
    run_judged: ["count==1"],
    unexpected_oversold: ["count==0"],
    unexpected_lost_updates: ["count==0"],
    unexpected_unsafe: ["count==0"],
    dropped_iterations: ["count==0"],
    unanswered: ["count==0"],
    unexpected_answers: ["count==0"],
    // A generator that falls behind measures itself, not the lock.
    start_lag: [`p(99)<=${latenessLimitMs(settings)}`],
    purchases: [doorsOpen ? `count==${settings.buyers}` : "count>0"],
  },
};

/** Milliseconds since the start of the test: fractional, monotonic, and the same clock in all VUs. */
function testClockMs() {
  return exec.instance.currentTestRunDuration;
}

/** Time for every buyer to connect before the start: about four times what 500 buyers need on two cores. */
function openingLeadMs() {
  return Math.min(15_000, 1_000 + 2 * settings.buyers);
}

/** @returns {Sale} */
export function setup() {
  const { run, runKey } = openRun(settings);
  const route = run.target.kind === "coupon" ? "coupons" : "products";
  const action = run.target.kind === "coupon" ? "claim" : "reduce-stock";
  return {
    runId: run.id,
    runKey,
    path: `/api/${route}/${run.target.id}/${action}`,
    storeUrls: storeUrls(settings, run.config.nodes),
    requestTimeoutMs,
    doorsOpenAtMs: testClockMs() + openingLeadMs(),
  };
}

/** @param {Sale} sale */
export default function purchase(sale) {
  if (doorsOpen) waitForDoors(sale);
  else arriveOnSchedule(sale);
}

/** @param {Sale} sale */
function waitForDoors(sale) {
  const buyer = exec.vu.idInTest - 1;
  // Connect first, so that the run measures the lock and not the TCP handshakes.
  http.get(`${sale.storeUrls[buyer % sale.storeUrls.length]}/healthz`, { tags: { name: "connect" } });
  const order = prepare(sale, { buyer, seed: settings.seed });
  const remainingMs = sale.doorsOpenAtMs - testClockMs();
  if (remainingMs > 0) sleep(remainingMs / 1_000);
  buy(order, { intendedAtMs: sale.doorsOpenAtMs, clock: testClockMs });
}

/** Start of the schedule on the test clock. Each VU computes it in its first iteration, with the same result. */
let scheduleBeganAtMs = Number.NaN;

/** @param {Sale} sale */
function arriveOnSchedule(sale) {
  const { iterationInTest, progress } = exec.scenario;
  if (Number.isNaN(scheduleBeganAtMs)) {
    // `exec.scenario.startTime` has whole milliseconds; `progress`, a fraction of the duration, is more precise.
    scheduleBeganAtMs = testClockMs() - progress * settings.durationMs;
  }
  const intendedAtMs = scheduleBeganAtMs + (iterationInTest * 1_000) / (settings.ratePerSecond ?? 1);
  buy(prepare(sale, { buyer: iterationInTest, seed: settings.seed }), { intendedAtMs, clock: testClockMs });
}

/**
 * Closes the run. The lab measures and checks it here; the report that follows only completes the verdict.
 * @param {Sale} sale
 */
export function teardown(sale) {
  const run = finishRun(settings, sale.runId, { awaitClientReport: true });
  runClosed.add(1);
  oversold.add(run.violations.oversold);
  lostUpdates.add(run.violations.lostUpdates);
  if (run.expected !== "safe") return;
  unexpectedOversold.add(run.violations.oversold);
  unexpectedLostUpdates.add(run.violations.lostUpdates);
  unexpectedUnsafe.add(run.verdict === "unsafe" ? 1 : 0);
}

/**
 * Sends the buyers' report, because k6 computes the percentiles only after teardown. k6 allows HTTP requests here.
 * @param {any} data
 * @returns {Record<string, string>}
 */
export function handleSummary(data) {
  /** @type {Sale | undefined} */
  const sale = data.setup_data;
  if (!sale) return { stderr: "k6 stopped before its setup was complete, so no buyer was started.\n" };
  const client = clientReportOf(data.metrics, { engineName: settings.engineName, doorsOpen });
  const document = finishRun(settings, sale.runId, { client });
  const resultFile = settings.resultFile ?? defaultResultFile(sale.runId);
  const context = {
    pageUrl: `${settings.baseUrl}/runs/${sale.runId}`,
    resultFile,
    failedThresholds: failedThresholdsOf(data.metrics),
  };
  return { stdout: reportText(document, context), [resultFile]: `${JSON.stringify(document, null, 2)}\n` };
}

/** @param {string} runId */
function defaultResultFile(runId) {
  const folder = import.meta.resolve("./results/").replace(/^file:\/\//, "");
  return decodeURI(`${folder}${runId}.json`);
}
