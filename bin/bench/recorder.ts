import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { type MedianInterval, medianInterval } from "../../lib/runs/median-interval";
import { bundle } from "../build/bundle";
import { SOURCE_MAP_FLAG } from "../build/source-map-flag";
import { ROOT } from "../supervisor/paths";
import {
  type Block,
  type BlockOrder,
  type BlockReport,
  type Cost,
  costOf,
  cpuUsEach,
  perSecond,
  turns,
} from "./blocks";
import { buyFor } from "./buyers";

/** Measures the cost of recording on the hot path: one node, one strategy, alternating blocks with and without it. */

export interface BenchCase {
  readonly name: string;
  readonly strategy: string;
  readonly stock: number;
}

/** The fastest refusal, the fastest strategy, and the fastest durable strategy. */
export const CASES: readonly BenchCase[] = [
  { name: "redis-decrement, every purchase refused (sold out)", strategy: "redis-decrement", stock: 1 },
  { name: "redis-decrement, every purchase sold", strategy: "redis-decrement", stock: 1_000_000 },
  { name: "sql-guarded, every purchase sold", strategy: "sql-guarded", stock: 1_000_000 },
];

export interface BenchSettings {
  readonly pairs: number;
  readonly blockMs: number;
  readonly buyers: number;
  /** Of the servers. */
  readonly env: Readonly<Record<string, string>>;
  readonly say: (line: string) => void;
}

export interface BenchResult {
  readonly bench: BenchCase;
  readonly cost: Cost;
  readonly purchases: number;
  /** CPU time of the node per purchase. */
  readonly cpuUsEach: number;
}

export interface BenchResults {
  readonly results: readonly BenchResult[];
  /** Nanoseconds of CPU time to keep one operation and to write it to the spool. */
  readonly recordNs: MedianInterval | null;
}

const CALL_LIMIT_MS = 60_000;

export async function measureRecorder(settings: BenchSettings): Promise<BenchResults> {
  const outDir = path.join(ROOT, ".lab", "bench", "programs");
  await bundle({ entryPoints: { "recorder-server": "bin/bench/recorder-server.ts" }, outDir });
  const child = fork(path.join(outDir, "recorder-server.mjs"), {
    cwd: ROOT,
    execArgv: ["--expose-gc", SOURCE_MAP_FLAG],
    env: { ...process.env, ...settings.env, STORE_NODE: "bench", NODE_ENV: "production" },
  });
  try {
    const port = (await answerOf(child)) as number;
    const results: BenchResult[] = [];
    for (const bench of CASES) results.push(await measureCase({ child, port, settings }, bench));
    const recordNs = medianInterval((await ask(child, { timeRecording: true })) as number[]);
    await ask(child, { end: true });
    return { results, recordNs };
  } finally {
    if (child.exitCode === null) child.kill("SIGKILL");
  }
}

interface Bench {
  readonly child: ChildProcess;
  readonly port: number;
  readonly settings: BenchSettings;
}

async function measureCase(bench: Bench, what: BenchCase): Promise<BenchResult> {
  const { say, pairs } = bench.settings;
  // Warm-up: compiles the code and opens connections.
  for (const isRecording of [true, false]) await measureBlock(bench, what, { isRecording, number: 0 });
  const blocks: Block[] = [];
  for (const [index, isRecording] of turns(pairs).entries()) {
    const block = await measureBlock(bench, what, { isRecording, number: index + 1 });
    blocks.push(block);
    if ((index + 1) % 10 !== 0) continue;
    say(
      `${what.name}: ${index + 1}/${2 * pairs} recorder ${isRecording ? "on " : "off"} ${Math.round(perSecond(block))}/s`,
    );
  }
  return {
    bench: what,
    cost: costOf(blocks),
    purchases: blocks.reduce((sum, block) => sum + block.purchases, 0),
    cpuUsEach: cpuUsEach(blocks),
  };
}

async function measureBlock(
  { child, port, settings }: Bench,
  { strategy, stock }: BenchCase,
  { isRecording, number }: { isRecording: boolean; number: number },
): Promise<Block> {
  const runId = `bench-${strategy}-${stock}-${number}-${Date.now().toString(36)}`;
  const order: BlockOrder = { runId, strategy, stock, isRecording };
  const { targetId } = (await ask(child, { open: order })) as { targetId: number };
  const { buyers, blockMs } = settings;
  const { purchases, elapsedMs } = await buyFor({ port, targetId, buyers, durationMs: blockMs });
  const report = (await ask(child, { close: runId })) as BlockReport;
  const { recorded, dropped } = report;
  const [expected, other] = isRecording ? [recorded, dropped] : [dropped, recorded];
  if (expected !== purchases || other !== 0) {
    throw new Error(
      `recorder ${isRecording ? "on" : "off"}: ${purchases} purchases, ${recorded} recorded, ${dropped} dropped`,
    );
  }
  return { isRecording, purchases, elapsedMs, cpuUs: report.cpuUs };
}

async function ask(child: ChildProcess, message: object): Promise<unknown> {
  child.send(message);
  return answerOf(child);
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const signal = AbortSignal.timeout(CALL_LIMIT_MS);
  const exited = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`The store node of the benchmark exited with ${String(code)}.`);
  });
  const answered = once(child, "message", { signal });
  const [{ value, error }] = (await Promise.race([answered, exited])) as [{ value?: unknown; error?: string }];
  exited.catch(() => undefined);
  if (error !== undefined) throw new Error(error);
  return value;
}
