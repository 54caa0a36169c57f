import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { CURVE_PERCENTILES } from "../../lib/node/curve-percentiles";
import { waitUntil } from "../support/wait-until";
import { fetchRun, historyFetches, type K6Result, labUrl, openRun, readDocument, runK6 } from "./k6";

/** k6's own codes: thresholds crossed, and an exception in the script. */
const THRESHOLDS_CROSSED = 99;
const SCRIPT_EXCEPTION = 107;

let folder = "";
let files = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "k6-"));
});
after(() => rm(folder, { recursive: true, force: true }));

async function sale(settings: Record<string, string>) {
  files += 1;
  const file = join(folder, `${files}.json`);
  const result = await runK6({ ...settings, RESULT_FILE: file });
  return { result, document: await readDocument(file).catch(() => assert.fail(outputOf(result))) };
}

const outputOf = ({ exitCode, stdout, stderr }: K6Result) => `exit code ${exitCode}\n${stdout}\n${stderr}`;

describe("k6 run load-tests/flash-sale.js", () => {
  it("shows the oversell of a sale without a lock, and passes because it is expected", async () => {
    const { result, document } = await sale({ LOCK_STRATEGY: "none", STOCK: "20", BUYERS: "100" });
    assert.equal(result.exitCode, 0, outputOf(result));
    assert.equal(document.verdict, "unsafe", outputOf(result));
    assert.ok(document.violations.oversold > 0, outputOf(result));
    assert.match(result.stdout, new RegExp(`oversold +${document.violations.oversold}\\n`));
    assert.match(result.stdout, /verdict +unsafe \(expected unsafe\)/);
  });

  it("sells exactly the stock with a guarded update, and reports the buyers' latency", async () => {
    const { result, document } = await sale({ LOCK_STRATEGY: "sql-guarded", STOCK: "20", BUYERS: "100" });
    assert.equal(result.exitCode, 0, outputOf(result));
    assert.equal(document.verdict, "safe", outputOf(result));
    assert.equal(document.status, "finished");
    assert.deepEqual(document.stock, { initial: 20, final: 0, orders: 20 });
    assert.equal(document.counts.requests, 100);
    assert.equal(document.latencySource, "client");
    assert.equal(document.client?.iterations, 100);
    assert.equal(document.client?.droppedIterations, 0);
    assert.equal(document.client?.failedRequests, 0);
    assert.ok((document.client?.arrivalSkewMs ?? -1) >= 0);
    const { p50, p99, max } = document.latencyMs;
    assert.ok(p50 !== null && p99 !== null && max !== null && p50 > 0 && p50 <= p99 && p99 <= max);
    const at = (wanted: number) => document.client?.curve?.find(({ percentile }) => percentile === wanted)?.ms;
    assert.deepEqual([at(50), at(99)], [p50, p99]);
    assert.equal(document.client?.curve?.length, CURVE_PERCENTILES.length);
  });

  it("does not know the CPU use of a k6 that the lab did not start, and says so", async () => {
    const { result, document } = await sale({ LOCK_STRATEGY: "sql-guarded", STOCK: "5", BUYERS: "10" });
    const { generatorCpuPercent, generatorCpuUnknown } = document.client ?? {};
    assert.equal(generatorCpuPercent, undefined, outputOf(result));
    assert.match(generatorCpuUnknown ?? "", /did not start this load generator/);
    assert.match(result.stdout, /CPU use not known: the lab did not start this load generator/);
  });

  it("knows the CPU use of a k6 that the lab started", {
    skip: process.platform === "linux" ? false : "not applicable: this system has no /proc",
  }, async () => {
    // Longer than a second: shorter than that the CPU use is not known.
    const load = { rate: 20, durationMs: 2_500, stock: 1_000 };
    const opened = await openRun({ strategy: "sql-guarded", engine: "k6", launch: true, ...load });
    await waitUntil(async () => (await fetchRun(opened.id)).status !== "running", {
      what: `run ${opened.id} to end`,
      withinMs: 60_000,
    });
    const { client, sentences } = await fetchRun(opened.id);
    assert.match(process.env.K6_BINARY ?? "k6", new RegExp(`${client?.generatorProcess}$`), sentences.join(" "));
    assert.ok((client?.generatorCpuPercent ?? 0) > 0, `CPU use: ${client?.generatorCpuPercent}`);
    assert.ok((client?.generatorSparePercent ?? -1) >= 0, `CPU left over: ${client?.generatorSparePercent}`);
  });

  it("spreads the buyers over the store nodes", async () => {
    const { result, document } = await sale({ LOCK_STRATEGY: "sql-guarded", STOCK: "5", BUYERS: "30" });
    const requests = document.nodes.map(({ counts }) => counts.requests);
    assert.ok(requests.length >= 2, outputOf(result));
    const most = requests.reduce((a, b) => Math.max(a, b));
    const least = requests.reduce((a, b) => Math.min(a, b));
    assert.ok(most - least <= 1, `requests per node: ${requests.join(", ")}`);
  });

  it("fetches each node's history once, for both calls that finish the run and for its page", async () => {
    const before = await historyFetches();
    const { document } = await sale({ LOCK_STRATEGY: "sql-guarded", STOCK: "5", BUYERS: "30" });
    assert.notEqual(document.client, null, "the report of the second finish call is in the document");
    const page = await fetch(`${labUrl()}/runs/${document.id}`);
    assert.equal(page.status, 200, await page.text());
    const fetched = (await historyFetches()).map((count, node) => count - (before[node] ?? 0));
    assert.deepEqual(
      fetched,
      document.nodes.map(() => 1),
      `fetches per node: ${fetched.join(", ")}`,
    );
  });

  it("writes the document that the lab stores", async () => {
    const { document } = await sale({ LOCK_STRATEGY: "sql-guarded", STOCK: "5", BUYERS: "10", HOLD_MS: "0" });
    assert.deepEqual(document, await fetchRun(document.id));
  });

  it("sells coupons, one to a buyer", async () => {
    const settings = { LOCK_STRATEGY: "sql-guarded", STOCK: "5", BUYERS: "20", TARGET: "coupon" };
    const { result, document } = await sale(settings);
    assert.equal(result.exitCode, 0, outputOf(result));
    assert.equal(document.target.kind, "coupon");
    assert.equal(document.stock.orders, 5);
    assert.equal(document.violations.duplicateClaims, 0);
  });

  it("sends purchases at a rate", async () => {
    const settings = { LOCK_STRATEGY: "sql-guarded", STOCK: "50", RATE: "40", DURATION: "2s", HOLD_MS: "20" };
    const { result, document } = await sale(settings);
    assert.equal(result.exitCode, 0, outputOf(result));
    assert.equal(document.config.rate, 40);
    assert.equal(document.config.vus, null);
    // k6 may start one more iteration at the end of the interval, and miss the last few on a busy machine.
    assert.ok(document.counts.requests >= 60 && document.counts.requests <= 81, outputOf(result));
    assert.equal(document.client?.arrivalSkewMs, null);
  });

  it("fails if iterations were dropped, and the run is not safe", async () => {
    const slow = { STOCK: "10", RATE: "100", DURATION: "1s", HOLD_MS: "200", MAX_VUS: "1" };
    const { result, document } = await sale({ LOCK_STRATEGY: "none", ...slow });
    assert.equal(result.exitCode, THRESHOLDS_CROSSED, outputOf(result));
    assert.ok((document.client?.droppedIterations ?? 0) > 0);
    assert.notEqual(document.verdict, "safe");
    assert.match(result.stdout, /FAILED +dropped_iterations: count==0/);
  });

  it("attaches to an open run", async () => {
    const { id } = await openRun({ strategy: "sql-guarded", stock: 3, vus: 6 });
    const mismatch = await runK6({ RUN_ID: id, BUYERS: "7" });
    assert.equal(mismatch.exitCode, SCRIPT_EXCEPTION);
    assert.match(mismatch.stderr, /BUYERS is 7, but the run was opened for 6 buyers/);
    const { document } = await sale({ RUN_ID: id, BUYERS: "6" });
    assert.equal(document.id, id);
    assert.equal(document.stock.orders, 3);
  });

  it("stops before the load if a setting is invalid, and names it", async () => {
    const result = await runK6({ STOCK: "many", TARGET: "shoe" });
    assert.equal(result.exitCode, SCRIPT_EXCEPTION, outputOf(result));
    assert.match(result.stderr, /STOCK=.*many.*: must be a whole number from 1 to 1000000/);
    assert.match(result.stderr, /TARGET=.*shoe.*: must be product or coupon/);
  });

  it("lists the valid strategies if one does not exist", async () => {
    const result = await runK6({ LOCK_STRATEGY: "no-such-lock" });
    assert.equal(result.exitCode, SCRIPT_EXCEPTION, outputOf(result));
    assert.match(result.stderr, /no-such-lock/);
    assert.match(result.stderr, /sql-guarded/);
  });

  it("says how to start the lab if it does not answer", async () => {
    const result = await runK6({ BASE_URL: "http://127.0.0.1:9", LOCK_STRATEGY: "none" });
    assert.equal(result.exitCode, SCRIPT_EXCEPTION, outputOf(result));
    assert.match(result.stderr, /no answer .*Start the lab with npm start/);
  });
});
