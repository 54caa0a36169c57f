import { readFileSync } from "node:fs";
import { processSingleton } from "../../services/singleton";

/** What a load generator took of the processor, for engines that cannot tell themselves. Linux only; elsewhere not known. */

/** A reading of a process's clock of work; milliseconds. */
export interface CpuReading {
  readonly atMs: number;
  readonly usedMs: number;
}

const READ_EVERY_MS = 250;
const WINDOW_MS = 1_000;
/** The kernel tells in ticks of a hundredth of a second, whatever its own are. */
const MS_PER_TICK = 10;

/** The most of any second, 100 = one core; null until a second has passed. */
export function busiestPercent(readings: readonly CpuReading[]): number | null {
  let busiest: number | null = null;
  let start = 0;
  for (const end of readings) {
    // The shortest stretch that is still a second long.
    while (end.atMs - (readings[start + 1]?.atMs ?? Infinity) >= WINDOW_MS) start += 1;
    const from = readings[start];
    if (!from || end.atMs - from.atMs < WINDOW_MS) continue;
    busiest = Math.max(busiest ?? 0, (100 * (end.usedMs - from.usedMs)) / (end.atMs - from.atMs));
  }
  return busiest;
}

/** User and system time of a process so far; null when it is gone, or the system does not say. */
export function usedMsOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in the second field may hold anything, blanks and brackets too.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks * MS_PER_TICK : null;
  } catch {
    return null;
  }
}

const watched = () => processSingleton("generator-cpu", () => new Map<string, CpuReading[]>());

/** Watches a run's generator until it is gone or the answer is called; `generatorCpuPercent` tells what was seen so far. */
export function watchGeneratorCpu(runId: string, pid: number): () => void {
  const readings: CpuReading[] = [];
  watched().set(runId, readings);
  const read = () => {
    const usedMs = usedMsOf(pid);
    if (usedMs === null) clearInterval(timer);
    else readings.push({ atMs: performance.now(), usedMs });
  };
  const timer = setInterval(read, READ_EVERY_MS);
  timer.unref();
  read();
  return () => {
    clearInterval(timer);
    watched().delete(runId);
  };
}

/** Undefined where nothing was seen. */
export function generatorCpuPercent(runId: string): number | undefined {
  const percent = busiestPercent(watched().get(runId) ?? []);
  return percent === null ? undefined : Math.round(percent);
}
