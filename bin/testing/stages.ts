import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { ROOT } from "../supervisor/paths";
import { runChild } from "../supervisor/run-child";
import { runAudit } from "./audit";
import type { NodeTestOrder } from "./node-tests";
import { tallyPlaywright } from "./playwright-report";
import { addTallies, EMPTY_TALLY, type Tally } from "./tally";
import { stageTestFiles, type TestFolder, unitTestFiles } from "./test-files";

/** The stages of `npm test`, in their order. */

export interface StageContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly filter: string | null;
  /** Part of the paths of the test files to run; null runs all. */
  readonly file: string | null;
  readonly isCi: boolean;
  readonly resultsDir: string;
  readonly signal: AbortSignal;
}

export interface Stage {
  readonly name: StageName;
  /** `servers`: PostgreSQL and the like. `app`: also the dashboard and the store nodes. */
  readonly needs: "nothing" | "servers" | "app";
  /** Whether it has no test file with this in its path. */
  readonly isEmpty: (file: string | null) => boolean;
  readonly run: (context: StageContext) => Promise<Tally>;
}

export const STAGE_NAMES = [
  "check",
  "unit",
  "conformance",
  "integration",
  "simulation",
  "interop",
  "http",
  "k6",
  "e2e",
] as const;
export type StageName = (typeof STAGE_NAMES)[number];

const MINUTE_MS = 60_000;

export const STAGES: readonly Stage[] = [
  { name: "check", needs: "nothing", isEmpty: (file) => file !== null, run: runChecks },
  nodeStage("unit", { needs: "nothing", files: () => unitTestFiles(ROOT), concurrency: 2, limitMs: 10 * MINUTE_MS }),
  // Each has resources of its own and mostly waits: for leases to end, for servers to come back.
  nodeStage("conformance", {
    needs: "servers",
    files: inFolder("conformance"),
    concurrency: 3,
    limitMs: 8 * MINUTE_MS,
  }),
  // One file at a time: they share servers, and a latency they measure should be their own.
  nodeStage("integration", { needs: "servers", files: inFolder("integration"), limitMs: 15 * MINUTE_MS }),
  nodeStage("simulation", { needs: "nothing", files: inFolder("simulation"), concurrency: 2, limitMs: 8 * MINUTE_MS }),
  nodeStage("interop", { needs: "servers", files: inFolder("interop"), limitMs: 10 * MINUTE_MS }),
  // One file at a time: each starts a node of its own.
  nodeStage("http", { needs: "app", files: inFolder("http"), limitMs: 6 * MINUTE_MS }),
  nodeStage("k6", { needs: "app", files: inFolder("k6"), limitMs: 6 * MINUTE_MS }),
  {
    name: "e2e",
    needs: "app",
    isEmpty: (file) => filesWith(stageTestFiles(ROOT, "e2e"), file).length === 0,
    run: runPlaywright,
  },
];

function inFolder(folder: TestFolder): () => string[] {
  return () => stageTestFiles(ROOT, folder);
}

function filesWith(files: string[], part: string | null): string[] {
  return part === null ? files : files.filter((file) => path.relative(ROOT, file).includes(part));
}

function nodeStage(
  name: StageName,
  how: {
    readonly needs: Stage["needs"];
    readonly files: () => string[];
    readonly concurrency?: number;
    readonly limitMs: number;
  },
): Stage {
  return {
    name,
    needs: how.needs,
    isEmpty: (file) => filesWith(how.files(), file).length === 0,
    run: (context) => {
      const { concurrency = 1, limitMs } = how;
      return runNodeTests({ name, files: filesWith(how.files(), context.file), concurrency, limitMs }, context);
    },
  };
}

const tallySchema = z.object({
  passed: z.int().min(0),
  failed: z.int().min(0),
  skips: z.array(z.object({ name: z.string(), reason: z.string() })),
  remarks: z.array(z.string()),
});

interface NodeTestJob {
  readonly name: string;
  readonly files: string[];
  readonly concurrency: number;
  readonly limitMs: number;
}

async function runNodeTests(job: NodeTestJob, context: StageContext): Promise<Tally> {
  const resultFile = freshResultFile(context, job.name);
  const { filter, isCi } = context;
  const { files, concurrency, limitMs } = job;
  const order: NodeTestOrder = { files, concurrency, fileTimeoutMs: limitMs, filter, isCi, resultFile };
  const outcome = await runChild({
    command: process.execPath,
    // What the runner is given, each test file's own process is given too.
    args: [
      ...["--import", "tsx", "--import", "./bin/testing/seed-properties.mjs"],
      path.join("bin", "testing", "node-tests.ts"),
      JSON.stringify(order),
    ],
    env: context.env,
    limitMs,
    signal: context.signal,
  });
  const text = readResult(resultFile);
  if (text === null)
    return failure(`${job.name}: ${outcome.endedBecause ?? `its runner ended with ${outcome.code}`}, without a result`);
  const tally = tallySchema.parse(JSON.parse(text));
  if (outcome.endedBecause) return addTallies([tally, failure(`${job.name}: ${outcome.endedBecause}`)]);
  // The runner's own word counts too: it may have ended before it had counted everything.
  if (outcome.code !== 0 && tally.failed === 0)
    return addTallies([tally, failure(`${job.name}: its runner ended with ${outcome.code}`)]);
  return tally;
}

async function runPlaywright(context: StageContext): Promise<Tally> {
  const resultFile = freshResultFile(context, "e2e");
  const outcome = await runChild({
    command: process.execPath,
    args: [
      path.join("node_modules", "@playwright", "test", "cli.js"),
      "test",
      "--reporter=list,json",
      ...(context.file === null ? [] : filesWith(stageTestFiles(ROOT, "e2e"), context.file)),
      ...(context.filter === null ? [] : ["--grep", context.filter, "--pass-with-no-tests"]),
    ],
    env: { ...context.env, PLAYWRIGHT_JSON_OUTPUT_NAME: resultFile, PLAYWRIGHT_JSON_OUTPUT_FILE: resultFile },
    limitMs: 15 * MINUTE_MS,
    signal: context.signal,
  });
  if (outcome.endedBecause) return failure(`e2e: ${outcome.endedBecause}`);
  const text = readResult(resultFile);
  if (text === null) return failure(`e2e: Playwright ended with ${outcome.code} and left no report`);
  const tally = tallyPlaywright(JSON.parse(text), context.isCi);
  // Its own verdict counts too: it knows of failures that belong to no test.
  if (outcome.code !== 0 && tally.failed === 0)
    return { ...tally, failed: 1, remarks: [...tally.remarks, "e2e: Playwright failed"] };
  return tally;
}

/** It colours every letter of a log file otherwise. */
const COLOURS = process.stdout.isTTY ? "--colors=force" : "--colors=off";

/** Each check is one test case: it passes or it fails. */
const CHECKS: readonly { readonly name: string; readonly args: readonly string[]; readonly fix: string }[] = [
  {
    name: "format and lint",
    args: [path.join("@biomejs", "biome", "bin", "biome"), "ci", COLOURS, "."],
    fix: "npm run format",
  },
  { name: "types", args: [path.join("typescript", "bin", "tsc"), "-p", "."], fix: "npx tsc -p ." },
  {
    name: "types of the k6 script",
    args: [path.join("typescript", "bin", "tsc"), "-p", "load-tests"],
    fix: "npx tsc -p load-tests",
  },
];

async function runChecks(context: StageContext): Promise<Tally> {
  let tally = EMPTY_TALLY;
  for (const check of CHECKS) {
    const [program = "", ...args] = check.args;
    const outcome = await runChild({
      command: process.execPath,
      args: [path.join("node_modules", program), ...args],
      env: context.env,
      limitMs: 5 * MINUTE_MS,
      signal: context.signal,
    });
    const passed = outcome.code === 0 && outcome.endedBecause === null;
    console.log(`${passed ? "✔" : "✖"} ${check.name}${passed ? "" : ` (${check.fix})`}`);
    tally = passed
      ? { ...tally, passed: tally.passed + 1 }
      : { ...tally, failed: tally.failed + 1, remarks: [...tally.remarks, `failed: ${check.name} (${check.fix})`] };
  }
  return addTallies([tally, await runAudit(context.signal)]);
}

export function failure(remark: string): Tally {
  return { ...EMPTY_TALLY, failed: 1, remarks: [remark] };
}

function freshResultFile(context: StageContext, name: string): string {
  mkdirSync(context.resultsDir, { recursive: true });
  const file = path.join(context.resultsDir, `${name}.json`);
  rmSync(file, { force: true });
  return file;
}

function readResult(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null; // The runner did not get that far.
  }
}
