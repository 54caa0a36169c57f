/**
 * The built-in load generator: `RUN_ID=… BASE_URL=… node --import tsx bin/load/builtin.ts`. Reads the open run, sends
 * its purchases and reports. Exit code 0 if it sent the load and reported, else 1; the verdict does not matter.
 */

import type { RunDocument } from "../../lib/runs/document";
import { builtinVersion } from "../../lib/runs/engines/builtin";
import { BUILTIN_CONNECTIONS } from "../../lib/runs/engines/buyer-limit";
import { requestTimeoutMs } from "../../lib/runs/engines/limits";
import { finishRun, type LabAddress, readRun, storeUrls } from "../runs/lab-client";
import { print, printError } from "../shared/terminal";
import { arriveAtRate, openDoors } from "./arrivals";
import { createPool, type Sale } from "./purchase";
import { Tally } from "./tally";

async function main(signal: AbortSignal): Promise<void> {
  const lab: LabAddress = { baseUrl: required("BASE_URL"), adminToken: process.env.ADMIN_TOKEN };
  const run = await readRun(lab, required("RUN_ID"));
  if (run.status !== "running") throw new Error(`Run ${run.id} is already ${run.status}. Open a new run.`);
  const sale = saleOf(run, await storeUrls(lab, run.config.nodes));
  const tally = new Tally();
  const cpu = process.cpuUsage();
  const beganAtMs = performance.now();
  await sendLoad(run, { sale, tally, signal });
  if (signal.aborted) throw new Error("The load was stopped before it was complete.");
  const { user, system } = process.cpuUsage(cpu);
  const cpuPercent = Math.round((user + system) / 10 / (performance.now() - beganAtMs));
  const report = tally.report(builtinVersion(), { doorsOpen: run.config.rate === null, cpuPercent });
  const finished = await finishRun(lab, run.id, report);
  print(`${run.id}: ${report.iterations} purchases (${tally.statusLine()}), ${cpuPercent}% of a core`);
  print(`${run.id}: ${finished.status}, ${finished.verdict}`);
}

async function sendLoad(run: RunDocument, load: { sale: Sale; tally: Tally; signal: AbortSignal }): Promise<void> {
  const { config } = run;
  const nodes = load.sale.storeUrls.length;
  if (config.rate === null) {
    const count = config.vus ?? 1;
    const connections = Math.min(count, BUILTIN_CONNECTIONS);
    return openDoors({ ...load, pool: createPool(connections, nodes) }, { count, connections });
  }
  const durationMs = config.durationMs ?? 10_000;
  // At most the purchases that arrive while one purchase waits for its whole timeout.
  const arriving = Math.ceil((config.rate * Math.min(durationMs, requestTimeoutMs(config))) / 1_000);
  const maxInFlight = Math.min(BUILTIN_CONNECTIONS, Math.max(20, arriving));
  const schedule = { ratePerSecond: config.rate, durationMs, maxInFlight };
  return arriveAtRate({ ...load, pool: createPool(maxInFlight, nodes) }, schedule);
}

function saleOf(run: RunDocument, urls: readonly string[]): Sale {
  const route = run.target.kind === "coupon" ? "coupons" : "products";
  const action = run.target.kind === "coupon" ? "claim" : "reduce-stock";
  return {
    runId: run.id,
    runKey: process.env.RUN_KEY ?? null,
    storeUrls: urls,
    path: `/api/${route}/${run.target.id}/${action}`,
    seed: run.config.seed,
    requestTimeoutMs: requestTimeoutMs(run.config),
  };
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set the environment variable ${name}.`);
  return value.replace(/\/+$/, "");
}

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
main(stop.signal).catch((error: Error) => {
  printError(error.message);
  process.exitCode = 1;
});
