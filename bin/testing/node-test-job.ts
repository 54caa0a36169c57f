import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { SOURCE_MAP_FLAG } from "../build/bundle";
import { ROOT } from "../supervisor/paths";
import { runChild } from "../supervisor/run-child";
import type { NodeTestOrder } from "./node-tests";
import { addTallies, failure, type Tally, tallySchema } from "./tally";
import { withPart } from "./test-files";
import { bundleUnitTests } from "./unit-bundle";

/** Starts bin/testing/node-tests.ts on test files and reads what it counted. */

export interface JobContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Pattern of test names; null runs all. */
  readonly filter: string | null;
  /** Part of the paths of the test files to run; null runs all. */
  readonly file: string | null;
  readonly isCi: boolean;
  readonly resultsDir: string;
  readonly signal: AbortSignal;
}

export interface NodeTestJob {
  readonly name: string;
  /** One after the other; the files of a batch at the same time, as far as its concurrency goes. */
  readonly batches: NodeTestOrder["batches"];
  readonly limitMs: number;
  /** Where the files were bundled to; null: they are TypeScript. */
  readonly bundleDir?: string;
  readonly sources?: readonly string[];
  /** Prints failures only. */
  readonly isQuiet?: boolean;
  /** Gets the output; absent: it is printed. */
  readonly onOutput?: (chunk: Buffer) => void;
}

const PRELOADS = ["--import", "./bin/testing/seed-properties.mjs"];
/** The slowest file takes about a minute. A file that hangs must not use up the limit of its stage. */
const FILE_LIMIT_MS = 5 * 60_000;
const UNIT_LIMIT_MS = 5 * 60_000;

export async function runNodeTests(job: NodeTestJob, context: JobContext): Promise<Tally> {
  const { name, batches, limitMs, bundleDir = null, sources = [], isQuiet = false } = job;
  const { filter, isCi } = context;
  const resultFile = freshResultFile(context, name);
  const order: NodeTestOrder = {
    ...{ batches, filter, isCi, resultFile, bundleDir, isQuiet },
    fileTimeoutMs: Math.min(limitMs, FILE_LIMIT_MS),
    sources: [...sources],
  };
  const runner =
    bundleDir === null
      ? ["--import", "tsx", ...PRELOADS, path.join("bin", "testing", "node-tests.ts")]
      : [SOURCE_MAP_FLAG, ...PRELOADS, path.join(bundleDir, "node-tests.mjs")];
  const outcome = await runChild({
    command: process.execPath,
    // node:test passes the runner's flags on to the process of each test file.
    args: [...runner, JSON.stringify(order)],
    env: context.env,
    limitMs,
    signal: context.signal,
    onOutput: job.onOutput,
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

/** All unit tests, bundled. @param files absolute paths */
export async function runUnitTests(
  files: readonly string[],
  context: JobContext,
  { isQuiet = false }: { readonly isQuiet?: boolean } = {},
): Promise<Tally> {
  // Inside the checkout, so that the bundles find node_modules.
  const bundleDir = path.join(ROOT, ".lab", "unit-tests", String(process.pid));
  try {
    const chosen = withPart(files, context.file);
    const { files: bundled, concurrency } = await bundleUnitTests(chosen, bundleDir);
    const job: NodeTestJob = {
      name: "unit",
      batches: [{ files: [...bundled], concurrency }],
      limitMs: UNIT_LIMIT_MS,
      bundleDir,
      sources: chosen.map((file) => path.relative(ROOT, file)),
      isQuiet,
    };
    return await runNodeTests(job, context);
  } finally {
    rmSync(bundleDir, { recursive: true, force: true });
  }
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
