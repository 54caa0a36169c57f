import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { checkHistory, checkParsedHistory, type HistoryReport } from "../../lib/history/check-history";
import type { HistoryPiece } from "../../lib/history/parse";
import { simulateCounterSale } from "../../lib/history/testing/simulation/counter-sale";
import { simulateLockSale } from "../../lib/history/testing/simulation/lock-sale";
import { type Sale, toNdjson } from "../../lib/history/testing/simulation/sale";
import { parseAndCheckYielding, timelineYielding } from "../../lib/history/yielding";

/**
 * Measures how the time of a check grows with the history, and how long it blocks the event loop: `node --import tsx
 * tests/history/check-benchmark.ts`.
 */

const CHUNK_BYTES = 64 * 1024;

/** Each sale is the worst case of a different checker. */
export const SALES: Readonly<Record<string, (operations: number) => Sale>> = {
  "a fenced lock with pauses": (buyers) => lockSale(buyers),
  "a counter without values": (buyers) =>
    simulateCounterSale({
      seed: 1,
      buyers,
      initial: buyers >> 1,
      failureRate: 0.1,
      recordsValues: false,
      maxQuantity: 2,
      maxDelay: buyers,
    }),
  "no lock, with all purchases in the critical section": (buyers) => allOverlapping(lockSale(buyers)),
};

function lockSale(buyers: number): Sale {
  const initial = buyers >> 1;
  return simulateLockSale({
    seed: 1,
    buyers,
    initial,
    hosts: 1,
    fenced: true,
    failureRate: 0.05,
    maxQuantity: 1,
    scale: 1_000,
  });
}

/** All grants are at the start, so every two holds overlap. */
function allOverlapping({ run, ops, end }: Sale): Sale {
  const overlapping = ops.map((op) =>
    op.grantedNs === undefined ? op : { ...op, invokedNs: "0", waitNs: "0", grantedNs: "1", fencingToken: "1" },
  );
  return { run, ops: overlapping, end };
}

export interface Timing {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** The minimum of several attempts: other load on the machine only adds time. */
export async function timeOf(sale: Sale, attempts: number): Promise<Timing> {
  const chunks = chunksOf(toNdjson(sale));
  let best: Timing = { cpuMs: Infinity, wallMs: Infinity };
  for (let index = 0; index < attempts; index += 1) {
    const startedCpuMs = usedCpuMs();
    const startedMs = performance.now();
    await checkHistory(chunks);
    const wallMs = performance.now() - startedMs;
    const cpuMs = usedCpuMs() - startedCpuMs;
    best = { cpuMs: Math.min(best.cpuMs, cpuMs), wallMs: Math.min(best.wallMs, wallMs) };
  }
  return best;
}

function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The lab's format: lines as text, and the end line as an object from the database. */
export function piecesOf({ run, ops, end }: Sale): HistoryPiece[] {
  return [[run, ...ops].map((line) => `${JSON.stringify(line)}\n`).join(""), end];
}

/** The work for a run's page, which shares its event loop with other requests. */
export async function checkYielding(pieces: Iterable<HistoryPiece>): Promise<HistoryReport> {
  const parsed = await parseAndCheckYielding(pieces);
  const report = checkParsedHistory(parsed);
  await yieldToEventLoop();
  await timelineYielding(parsed.history);
  return report;
}

/** CPU time of the longest block between two turns of the event loop, and of the whole check. */
export async function measureBlocking(
  sale: Sale,
): Promise<{ readonly longestBlockCpuMs: number; readonly totalCpuMs: number }> {
  const pieces = piecesOf(sale);
  const startMs = usedCpuMs();
  let [lastMs, longestMs, isDone] = [startMs, 0, false];
  const watching = (async () => {
    while (!isDone) {
      await yieldToEventLoop();
      const nowMs = usedCpuMs();
      longestMs = Math.max(longestMs, nowMs - lastMs);
      lastMs = nowMs;
    }
  })();
  await checkYielding(pieces);
  isDone = true;
  await watching;
  return { longestBlockCpuMs: longestMs, totalCpuMs: lastMs - startMs };
}

function chunksOf(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES));
}

async function main(): Promise<void> {
  const [few, many] = [10_000, 100_000];
  console.log(`minimum of 3 attempts; ratio of CPU time for ${many} operations to ${few}: 10 is linear`);
  for (const [name, make] of Object.entries(SALES)) {
    const small = await timeOf(make(few), 3);
    const large = await timeOf(make(many), 3);
    const inMs = ({ cpuMs, wallMs }: Timing) => `${wallMs.toFixed(0)} ms (${cpuMs.toFixed(0)} ms CPU)`;
    console.log(`${name}: ${inMs(small)}, ${inMs(large)}, ratio ${(large.cpuMs / small.cpuMs).toFixed(1)}`);
    const attempts = [
      await measureBlocking(make(many)),
      await measureBlocking(make(many)),
      await measureBlocking(make(many)),
    ];
    const longest = Math.min(...attempts.map(({ longestBlockCpuMs }) => longestBlockCpuMs));
    console.log(`  for a run's page: blocks the event loop for at most ${longest.toFixed(0)} ms of CPU time`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) void main();
