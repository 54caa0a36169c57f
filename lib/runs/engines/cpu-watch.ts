import { existsSync, readFileSync } from "node:fs";
import { processSingleton } from "../../services/singleton";
import type { ClientReport } from "../document";

/** What a load generator took of the processor, for engines that cannot tell themselves. Linux only; elsewhere not known. */

/** A reading of a process's clock of work, and of the machine's clock of idleness; milliseconds. */
export interface CpuReading {
  readonly atMs: number;
  readonly usedMs: number;
  /** Of all processors together. */
  readonly idleMs: number;
}

/** 100 = one core. */
export interface BusiestSecond {
  readonly percent: number;
  /** What nobody on the machine used in that same second. */
  readonly sparePercent: number;
}

const READ_EVERY_MS = 250;
const WINDOW_MS = 1_000;
const HAS_PROC = existsSync("/proc/self/stat");
/** The kernel tells in ticks of a hundredth of a second, whatever its own are. */
const MS_PER_TICK = 10;

/** The second in which the process worked most; null until a second has passed. */
export function busiestSecond(readings: readonly CpuReading[]): BusiestSecond | null {
  let busiest: BusiestSecond | null = null;
  let start = 0;
  for (const end of readings) {
    // The shortest stretch that is still a second long.
    while (end.atMs - (readings[start + 1]?.atMs ?? Infinity) >= WINDOW_MS) start += 1;
    const from = readings[start];
    if (!from || end.atMs - from.atMs < WINDOW_MS) continue;
    const share = (fromMs: number, toMs: number) => (100 * (toMs - fromMs)) / (end.atMs - from.atMs);
    const percent = share(from.usedMs, end.usedMs);
    if (busiest === null || percent > busiest.percent) {
      busiest = { percent, sparePercent: share(from.idleMs, end.idleMs) };
    }
  }
  return busiest;
}

/** A reading of now; null when the process is gone, or the system does not say. */
export function readCpu(pid: number): CpuReading | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in the second field may hold anything, blanks and brackets too. Then: user and system time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const used = Number(fields[11]) + Number(fields[12]);
    // All processors: user, nice, system, idle, and idle while a disk was waited for.
    const [, , , , idle, waiting] = readFileSync("/proc/stat", "utf8").split(/\s+/, 6);
    const reading = {
      atMs: performance.now(),
      usedMs: used * MS_PER_TICK,
      idleMs: (Number(idle) + Number(waiting)) * MS_PER_TICK,
    };
    return Object.values(reading).every(Number.isFinite) ? reading : null;
  } catch {
    return null;
  }
}

/** As the system calls the program; null when it is gone. */
function nameOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() || null;
  } catch {
    return null;
  }
}

/** What is known of one run's generator. */
export class GeneratorWatch {
  private readonly readings: CpuReading[] = [];
  private pid: number | null = null;
  private program: string | null = null;
  /** Why the figures are not known, or not to be taken for the generator's; null: nothing speaks against them. */
  doubt: string | null = null;

  constructor(private readonly until: AbortSignal) {}

  /** Reads what a process uses, until it is gone or the watch is over. */
  follow(pid: number): void {
    if (this.until.aborted) return;
    this.pid = pid;
    this.program = nameOf(pid);
    const timer = setInterval(() => {
      if (!this.read()) clearInterval(timer);
    }, READ_EVERY_MS);
    timer.unref();
    this.until.addEventListener("abort", () => clearInterval(timer), { once: true });
    this.read();
  }

  /** @returns false once the process is gone */
  private read(): boolean {
    const reading = this.pid === null ? null : readCpu(this.pid);
    if (reading !== null) this.readings.push(reading);
    return reading !== null;
  }

  /** What was seen up to now, as the client's report has it. */
  tell(): Pick<
    ClientReport,
    "generatorCpuPercent" | "generatorSparePercent" | "generatorProcess" | "generatorCpuUnknown"
  > {
    if (!HAS_PROC) return { generatorCpuUnknown: "this system does not say what a process uses" };
    if (this.doubt !== null) return { generatorCpuUnknown: this.doubt };
    // A short run has few readings, and the one that makes its second whole is due now.
    this.read();
    const busiest = busiestSecond(this.readings);
    if (busiest === null) return { generatorCpuUnknown: "its process was seen for less than a second" };
    return {
      generatorCpuPercent: Math.round(busiest.percent),
      generatorSparePercent: Math.round(busiest.sparePercent),
      ...(this.program === null ? {} : { generatorProcess: this.program }),
    };
  }
}

const watches = () => processSingleton("generator-watches", () => new Map<string, GeneratorWatch>());

/** A watch for a run's generator, there for `withGeneratorCpu` until the signal aborts. */
export function watchGenerator(runId: string, until: AbortSignal): GeneratorWatch {
  const watch = new GeneratorWatch(until);
  if (until.aborted) return watch;
  watches().set(runId, watch);
  until.addEventListener("abort", () => watches().delete(runId), { once: true });
  return watch;
}

/** The generator's report with what it took of the processor; its own word counts, if it has one. */
export function withGeneratorCpu(runId: string, report: ClientReport): ClientReport {
  if (report.generatorCpuPercent !== undefined) return report;
  const { generatorCpuUnknown: _said, ...rest } = report;
  const seen = watches().get(runId)?.tell() ?? { generatorCpuUnknown: "nobody watched its process" };
  return { ...rest, ...seen };
}
