import path from "node:path";
import type { Output } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";
import { runChild } from "../supervisor/run-child";
import { runAudit } from "./audit";
import { createLaneDatabase } from "./lane-database";
import { freshResultFile, type JobContext, readResult, runNodeTests, runUnitTests } from "./node-test-job";
import { tallyPlaywright } from "./playwright-report";
import { addTallies, EMPTY_TALLY, failure, type Tally } from "./tally";
import {
  aloneReason,
  processTestFiles,
  stageTestFiles,
  type TestFolder,
  testPrograms,
  unitTestFiles,
  withPart,
} from "./test-files";

/**
 * The stages of `npm test`, in the order in which they begin. Two run at a time. The longest one begins first, and those beside it
 * mostly wait, because its timed tests need the processors. The browser tests compute, so they are last, when nothing else runs.
 * The app is built beside the first three. The stages that need it run one after the other.
 */

export interface StageContext extends JobContext {
  readonly output: Output;
}

export interface Stage {
  readonly name: StageName;
  /** `servers`: PostgreSQL and the other servers. `app`: also the dashboard and the store nodes. */
  readonly needs: "nothing" | "servers" | "app";
  /** Whether no test file of the stage has `file` in its path. */
  readonly isEmpty: (file: string | null) => boolean;
  readonly run: (context: StageContext) => Promise<Tally>;
}

export const STAGE_NAMES = [
  "check",
  "unit",
  "integration",
  "process",
  "simulation",
  "http",
  "k6",
  "conformance",
  "interop",
  "e2e",
] as const;
export type StageName = (typeof STAGE_NAMES)[number];

/** Limits are several times the duration on two quiet processors. */
const MINUTE_MS = 60_000;

export const STAGES: readonly Stage[] = [
  { name: "check", needs: "nothing", isEmpty: (file) => file !== null, run: runChecks },
  {
    name: "unit",
    needs: "nothing",
    isEmpty: (file) => withPart(unitTestFiles(ROOT), file).length === 0,
    run: (context) => runUnitTests(unitTestFiles(ROOT), context),
  },
  {
    name: "integration",
    needs: "servers",
    isEmpty: (file) => withPart(stageTestFiles(ROOT, "integration"), file).length === 0,
    run: runIntegration,
  },
  nodeStage("process", {
    needs: "nothing",
    files: () => processTestFiles(ROOT),
    concurrency: 1,
    limitMs: 10 * MINUTE_MS,
  }),
  nodeStage("simulation", { needs: "nothing", concurrency: 1, limitMs: 10 * MINUTE_MS }),
  nodeStage("http", { needs: "app", limitMs: 10 * MINUTE_MS }),
  nodeStage("k6", { needs: "app", limitMs: 10 * MINUTE_MS }),
  // Each file has its own resources and mostly waits: for leases to expire, for servers to restart.
  nodeStage("conformance", { needs: "servers", concurrency: 4, limitMs: 15 * MINUTE_MS }),
  nodeStage("interop", { needs: "servers", concurrency: 3, limitMs: 10 * MINUTE_MS }),
  {
    name: "e2e",
    needs: "app",
    isEmpty: (file) => withPart(stageTestFiles(ROOT, "e2e"), file).length === 0,
    run: runPlaywright,
  },
];

/** The app has one run at a time, so the stages that open runs in it would reject each other's. */
export function sharesApp(one: Stage, other: Stage): boolean {
  return one.needs === "app" && other.needs === "app";
}

function nodeStage<Name extends StageName>(
  name: Name,
  how: {
    readonly needs: Stage["needs"];
    /** Absent: those in the stage's folder. */
    readonly files?: () => string[];
    /** Files at the same time, save for those marked `@alone`. */
    readonly concurrency?: number;
    readonly limitMs: number;
  },
): Stage {
  const { needs, files = () => stageTestFiles(ROOT, name as TestFolder), concurrency = 1, limitMs } = how;
  return {
    name,
    needs,
    isEmpty: (file) => withPart(files(), file).length === 0,
    run: (context) => {
      const chosen = withPart(files(), context.file);
      const alone = chosen.filter((file) => aloneReason(file) !== null);
      const batches = [
        { files: chosen.filter((file) => !alone.includes(file)), concurrency },
        { files: alone, concurrency: 1 },
      ];
      return runNodeTests({ name, batches, programs: testPrograms(ROOT), limitMs }, context);
    },
  };
}

/** Integration test files at the same time, each with a database. */
const LANES = 2;

async function runIntegration(context: StageContext): Promise<Tally> {
  const files = withPart(stageTestFiles(ROOT, "integration"), context.file);
  const { DATABASE_URL = "" } = context.env;
  for (let lane = 1; lane <= LANES; lane += 1) await createLaneDatabase(DATABASE_URL, lane);
  const job = {
    name: "integration",
    batches: [{ files, concurrency: LANES }],
    programs: testPrograms(ROOT),
    preload: path.join(ROOT, "bin", "testing", "claim-lane.ts"),
    limitMs: 25 * MINUTE_MS,
  };
  return runNodeTests(job, { ...context, env: { ...context.env, TEST_LANES: String(LANES) } });
}

async function runPlaywright(context: StageContext): Promise<Tally> {
  const resultFile = freshResultFile(context, "e2e");
  const outcome = await runChild({
    command: process.execPath,
    args: [
      path.join("node_modules", "@playwright", "test", "cli.js"),
      "test",
      "--reporter=list,json",
      ...(context.file === null ? [] : withPart(stageTestFiles(ROOT, "e2e"), context.file)),
      ...(context.filter === null ? [] : ["--grep", context.filter, "--pass-with-no-tests"]),
    ],
    env: { ...context.env, PLAYWRIGHT_JSON_OUTPUT_NAME: resultFile, PLAYWRIGHT_JSON_OUTPUT_FILE: resultFile },
    limitMs: 25 * MINUTE_MS,
    signal: context.signal,
    output: context.output,
  });
  if (outcome.endedBecause) return failure(`e2e: ${outcome.endedBecause}`);
  const text = readResult(resultFile);
  if (text === null) return failure(`e2e: Playwright exited with ${outcome.code} and wrote no report`);
  const tally = tallyPlaywright(JSON.parse(text), context.isCi);
  // The exit code counts too: some failures belong to no test.
  if (outcome.code !== 0 && tally.failed === 0)
    return { ...tally, failed: 1, remarks: [...tally.remarks, "e2e: Playwright failed"] };
  return tally;
}

/** Biome would write colours into a log file too. */
const COLOURS = process.stdout.isTTY ? "--colors=force" : "--colors=off";

/** Each check counts as one test case. */
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
      output: context.output,
    });
    const passed = outcome.code === 0 && outcome.endedBecause === null;
    context.output.write(`${passed ? "✔" : "✖"} ${check.name}${passed ? "" : ` (${check.fix})`}\n`);
    tally = passed
      ? { ...tally, passed: tally.passed + 1 }
      : { ...tally, failed: tally.failed + 1, remarks: [...tally.remarks, `failed: ${check.name} (${check.fix})`] };
  }
  return addTallies([tally, await runAudit(context)]);
}
