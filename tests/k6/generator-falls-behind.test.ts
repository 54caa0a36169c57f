import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { exitCodeOf } from "../../bin/runs/exit-codes";
import { readRun } from "../../bin/runs/lab-client";
import { latenessLimitMs } from "../../lib/runs/agreement";
import type { RunDocument } from "../../lib/runs/document";
import { waitUntil } from "../support/wait-until";
import { labUrl, readDocument, runK6 } from "./k6";

const THRESHOLDS_CROSSED = 99;
/** A load that lasts longer than the stop of its generator. */
const LOAD = { rate: 20, durationMs: 12_000, stock: 1_000 };
const STOPPED_MS = latenessLimitMs({ vus: null, rate: LOAD.rate }) + 1_000;

const adminToken = process.env.LAB_ADMIN_TOKEN;
const lab = () => ({ baseUrl: labUrl(), adminToken });
const headers = {
  "content-type": "application/json",
  ...(adminToken ? { authorization: `Bearer ${adminToken}` } : {}),
};
const requestBody = (changes: object) => JSON.stringify({ strategy: "sql-guarded", holdMs: 0, ...LOAD, ...changes });

async function getJson<T>(path: string): Promise<T> {
  return (await (await fetch(`${labUrl()}${path}`, { signal: AbortSignal.timeout(10_000) })).json()) as T;
}

async function purchasesOf(runId: string): Promise<number> {
  const { samples } = await getJson<{ samples: { counts: RunDocument["counts"] }[] }>(`/api/runs/${runId}/samples`);
  return samples.at(-1)?.counts.requests ?? 0;
}

/** Stops the generator for a defined time, as a machine without free CPU time would. */
async function stopInMidRun(pid: number, runId: string): Promise<void> {
  await waitUntil(async () => (await purchasesOf(runId)) >= 5, { what: "the first purchases" });
  process.kill(pid, "SIGSTOP");
  const stoppedAtMs = performance.now();
  try {
    await waitUntil(() => performance.now() - stoppedAtMs >= STOPPED_MS, { what: "the end of the stop" });
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

function assertFellBehind(document: RunDocument, context: string): void {
  assert.ok((document.client?.generatorLagP99Ms ?? 0) > latenessLimitMs(document.config), context);
  assert.equal(document.agreement?.isStarved, true, context);
  assert.equal(document.verdict, "inconclusive", context);
  assert.match(document.sentences[0] ?? "", /^The load generator fell behind: it sent purchases up to [\d.]+ s late/);
  assert.equal(exitCodeOf([document]), 2);
}

describe("a load generator that gets no CPU time in the middle of a run", () => {
  let folder = "";
  const children: ChildProcess[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "fell-behind-"));
  });
  after(async () => {
    for (const child of children) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  it("makes k6 fail, and the run inconclusive with the reason", async () => {
    const file = join(folder, "k6.json");
    const opened = await getJson<{ runs: RunDocument[] }>("/api/runs?limit=1");
    let pid = 0;
    const settings = { LOCK_STRATEGY: "sql-guarded", HOLD_MS: "0", STOCK: String(LOAD.stock), RESULT_FILE: file };
    const load = { RATE: String(LOAD.rate), DURATION: `${LOAD.durationMs}ms`, MAX_VUS: "200" };
    const running = runK6({ ...settings, ...load }, (id) => {
      pid = id;
    });
    let runId = "";
    const isOpen = async () => {
      const [newest] = (await getJson<{ runs: RunDocument[] }>("/api/runs?limit=1")).runs;
      runId = newest?.id ?? "";
      return newest?.status === "running" && newest.id !== opened.runs[0]?.id;
    };
    const stopped = waitUntil(isOpen, { what: "k6 to open its run" }).then(() => stopInMidRun(pid, runId));
    const [{ exitCode, stdout, stderr }] = await Promise.all([running, stopped]);
    const context = `exit code ${exitCode}\n${stdout}\n${stderr}`;
    assert.equal(exitCode, THRESHOLDS_CROSSED, context);
    assertFellBehind(await readDocument(file), context);
    assert.match(stdout, /The load generator fell behind/);
    assert.match(stdout, /FAILED +start_lag: p\(99\)<=2000/);
  });

  it("makes a run of the built-in generator inconclusive", async () => {
    const response = await fetch(`${labUrl()}/api/runs`, {
      method: "POST",
      headers,
      body: requestBody({ engine: "builtin" }),
    });
    const { id } = (await response.json()) as RunDocument;
    const generator = spawn(process.execPath, ["--import", "tsx", join("bin", "load", "builtin.ts")], {
      env: {
        ...process.env,
        BASE_URL: labUrl(),
        RUN_ID: id,
        RUN_KEY: response.headers.get("x-run-key") ?? "",
        ...(adminToken ? { ADMIN_TOKEN: adminToken } : {}),
      },
      stdio: "ignore",
    });
    children.push(generator);
    const ended = once(generator, "exit");
    await stopInMidRun(generator.pid ?? 0, id);
    assert.deepEqual(await ended, [0, null]);
    assertFellBehind(await readRun(lab(), id), id);
  });
});
