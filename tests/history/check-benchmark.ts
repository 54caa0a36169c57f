import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { checkHistory, checkParsedHistory, type HistoryReport } from "../../lib/history/check-history";
import type { HistoryPiece } from "../../lib/history/parse";
import { simulateCounterSale } from "../../lib/history/testing/simulation/counter-sale";
import { simulateLockSale } from "../../lib/history/testing/simulation/lock-sale";
import { type Sale, toNdjson } from "../../lib/history/testing/simulation/sale";
import { parseAndCheckYielding, timelineYielding } from "../../lib/history/yielding";

/** How long judging takes as a history grows, and how long it holds the event loop: `node --import tsx tests/history/check-benchmark.ts`. */

const CHUNK_BYTES = 64 * 1024;

/** Sales that go through every checker, each hard on another. */
export const SALES: Readonly<Record<string, (operations: number) => Sale>> = {
  "a fenced lock with pauses": (buyers) => lockSale(buyers),
  "a counter without values": (buyers) =>
    simulateCounterSale({
      seed: 1,
      buyers,
      initial: buyers >> 1,
      trouble: 0.1,
      valued: false,
      maxQuantity: 2,
      moments: buyers,
    }),
  "no lock, and everyone inside at once": (buyers) => storm(lockSale(buyers)),
};

function lockSale(buyers: number): Sale {
  const initial = buyers >> 1;
  return simulateLockSale({
    seed: 1,
    buyers,
    initial,
    hosts: 1,
    fenced: true,
    trouble: 0.05,
    maxQuantity: 1,
    scale: 1_000,
  });
}

/** Everybody enters at the beginning and leaves at the end: every two of them overlap. */
function storm({ run, ops, end }: Sale): Sale {
  const inside = ops.map((op) =>
    op.grantedNs === undefined ? op : { ...op, invokedNs: "0", waitNs: "0", grantedNs: "1", fencingToken: "1" },
  );
  return { run, ops: inside, end };
}

export interface Timing {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** The shortest of some tries: what else runs on the machine only ever adds. */
export async function timeOf(sale: Sale, tries: number): Promise<Timing> {
  const chunks = chunksOf(toNdjson(sale));
  let best: Timing = { cpuMs: Infinity, wallMs: Infinity };
  for (let index = 0; index < tries; index += 1) {
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

/** As the lab has it: operations as text, the end as it was read from the database. */
export function piecesOf({ run, ops, end }: Sale): HistoryPiece[] {
  return [[run, ...ops].map((line) => `${JSON.stringify(line)}\n`).join(""), end];
}

/** As a run's page judges: everything that others on the same event loop have to wait for. */
export async function judgeInTurns(pieces: Iterable<HistoryPiece>): Promise<HistoryReport> {
  const parsed = await parseAndCheckYielding(pieces);
  const judged = checkParsedHistory(parsed);
  await turn();
  await timelineYielding(parsed.history);
  return judged;
}

/** Processor time of the longest stretch between two turns of the event loop, and of all of them. */
export async function stretchesOf(sale: Sale): Promise<{ readonly longestCpuMs: number; readonly wholeCpuMs: number }> {
  const pieces = piecesOf(sale);
  const startMs = usedCpuMs();
  let [lastMs, longestMs, isOver] = [startMs, 0, false];
  const watching = (async () => {
    while (!isOver) {
      await turn();
      const nowMs = usedCpuMs();
      longestMs = Math.max(longestMs, nowMs - lastMs);
      lastMs = nowMs;
    }
  })();
  await judgeInTurns(pieces);
  isOver = true;
  await watching;
  return { longestCpuMs: longestMs, wholeCpuMs: lastMs - startMs };
}

function chunksOf(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES));
}

async function main(): Promise<void> {
  const [few, many] = [10_000, 100_000];
  console.log(`shortest of 3; ratio: processor time for ${many} by that for ${few}; 10 is linear`);
  for (const [name, make] of Object.entries(SALES)) {
    const small = await timeOf(make(few), 3);
    const large = await timeOf(make(many), 3);
    const inMs = ({ cpuMs, wallMs }: Timing) => `${wallMs.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of processor)`;
    console.log(`${name}: ${inMs(small)}, ${inMs(large)}, ratio ${(large.cpuMs / small.cpuMs).toFixed(1)}`);
    const tries = [await stretchesOf(make(many)), await stretchesOf(make(many)), await stretchesOf(make(many))];
    const longest = Math.min(...tries.map(({ longestCpuMs }) => longestCpuMs));
    console.log(`  in turns for a page: the event loop is held for ${longest.toFixed(0)} ms of processor at most`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) void main();
