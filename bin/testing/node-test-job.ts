import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { SOURCE_MAP_FLAG } from "../build/source-map-flag";
import type { Output } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";
import { runChild } from "../supervisor/run-child";
import type { NodeTestOrder } from "./node-tests";
import { addTallies, failure, type Tally, tallySchema } from "./tally";
import { bundleTests, groupFiles } from "./test-bundle";
import { withPart } from "./test-files";

/** Bundles test files, starts bin/testing/node-tests.ts on the bundles, and reads what it counted. */

export interface JobContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Pattern of test names; null runs all. */
  readonly filter: string | null;
  /** Part of the paths of the test files to run; null runs all. */
  readonly file: string | null;
  readonly isCi: boolean;
  readonly resultsDir: string;
  readonly signal: AbortSignal;
  /** By default the terminal. */
  readonly output?: Output;
}

export interface NodeTestJob {
  readonly name: string;
  /** Test files, from one batch after the other; the files of a batch at the same time, as far as its concurrency goes. */
  readonly batches: readonly TestBatch[];
  readonly limitMs: number;
  /** Sources of programs that the tests start (tests/support/test-program.ts). */
  readonly programs?: readonly string[];
  /** Source that the process of each test file loads first. */
  readonly preload?: string;
}

export interface TestBatch {
  /** Absolute paths of sources. */
  readonly files: readonly string[];
  readonly concurrency: number;
}

const RUNNER = path.join(ROOT, "bin", "testing", "node-tests.ts");
const SEED_PROPERTIES = "./bin/testing/seed-properties.mjs";
/** Several times the duration of the slowest file on two quiet processors. A file that hangs must not use up the limit of its stage. */
const FILE_LIMIT_MS = 10 * 60_000;
const UNIT_LIMIT_MS = 5 * 60_000;

/** Runs each test file in a process. */
export async function runNodeTests(job: NodeTestJob, context: JobContext): Promise<Tally> {
  const { batches, programs = [], preload } = job;
  const sources = batches.flatMap(({ files }) => files);
  const extra = preload === undefined ? programs : [...programs, preload];
  const order = { name: job.name, sources: [...sources, ...extra], isForMany: true };
  return withBundle(order, ({ outDir, bundled }) =>
    runBundled(
      {
        ...job,
        outDir,
        sources: [],
        runner: bundled(RUNNER),
        batches: batches.map(({ files, concurrency }) => ({ files: files.map(bundled), concurrency })),
        preloads: preload === undefined ? [] : [bundled(preload)],
        env: { TEST_BUNDLE_DIR: outDir },
      },
      context,
    ),
  );
}

/** All unit tests, in a few processes. @param files absolute paths */
export async function runUnitTests(
  files: readonly string[],
  context: JobContext,
  { isQuiet = false }: { readonly isQuiet?: boolean } = {},
): Promise<Tally> {
  const sources = withPart(files, context.file);
  return withBundle({ name: "unit", sources }, async ({ outDir, bundled }) => {
    const batches = [groupFiles(sources, { outDir, bundled })];
    const job = { name: "unit", limitMs: UNIT_LIMIT_MS, runner: bundled(RUNNER), preloads: [], env: {} };
    return runBundled({ ...job, ...{ outDir, sources, batches, isQuiet } }, context);
  });
}

interface Bundle {
  readonly outDir: string;
  readonly bundled: (source: string) => string;
}

async function withBundle(
  order: { readonly name: string; readonly sources: readonly string[]; readonly isForMany?: boolean },
  use: (bundle: Bundle) => Promise<Tally>,
): Promise<Tally> {
  const { name, sources, isForMany } = order;
  // Inside the checkout, so that the bundles find node_modules.
  const outDir = path.join(ROOT, ".lab", "test-bundles", `${name}-${process.pid}`);
  try {
    return await use({ outDir, bundled: await bundleTests([RUNNER, ...sources], { outDir, isForMany }) });
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

interface BundledJob {
  readonly name: string;
  readonly batches: readonly TestBatch[];
  readonly limitMs: number;
  readonly outDir: string;
  /** Those that share a process; each must hold a test. */
  readonly sources: readonly string[];
  readonly runner: string;
  readonly preloads: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Prints failures only. */
  readonly isQuiet?: boolean;
}

async function runBundled(job: BundledJob, context: JobContext): Promise<Tally> {
  const { name, batches, limitMs, outDir, sources, runner, preloads, isQuiet = false } = job;
  const resultFile = freshResultFile(context, name);
  const order: NodeTestOrder = {
    batches: batches.map(({ files, concurrency }) => ({ files: [...files], concurrency })),
    fileTimeoutMs: Math.min(limitMs, FILE_LIMIT_MS),
    filter: context.filter,
    isCi: context.isCi,
    resultFile,
    bundleDir: outDir,
    sources: sources.map((source) => path.relative(ROOT, source)),
    isQuiet,
  };
  const outcome = await runChild({
    command: process.execPath,
    // node:test passes the runner's flags on to the process of each test file.
    args: [
      SOURCE_MAP_FLAG,
      ...[SEED_PROPERTIES, ...preloads].flatMap((module) => ["--import", module]),
      runner,
      JSON.stringify(order),
    ],
    env: { ...context.env, ...job.env },
    limitMs,
    signal: context.signal,
    output: context.output,
  });
  const text = readResult(resultFile);
  if (text === null)
    return failure(`${name}: ${outcome.endedBecause ?? `the runner exited with ${outcome.code}`}, without a result`);
  const tally = tallySchema.parse(JSON.parse(text));
  if (outcome.endedBecause) return addTallies([tally, failure(`${name}: ${outcome.endedBecause}`)]);
  // The exit code counts too: the runner may have ended before it had counted everything.
  if (outcome.code !== 0 && tally.failed === 0)
    return addTallies([tally, failure(`${name}: the runner exited with ${outcome.code}`)]);
  return tally;
}

export function freshResultFile(context: JobContext, name: string): string {
  mkdirSync(context.resultsDir, { recursive: true });
  const file = path.join(context.resultsDir, `${name}.json`);
  rmSync(file, { force: true });
  return file;
}

export function readResult(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null; // The runner did not get that far.
  }
}
