import { existsSync, readFileSync } from "node:fs";
import { processSingleton } from "../../services/singleton";
import type { ClientReport } from "../client-report";

/** CPU use of a load generator that the lab started itself, read from `/proc`: Linux only, elsewhere not known. */

/** CPU time that a process has used and that the machine has been idle, both since their start; milliseconds. */
export interface CpuReading {
  readonly atMs: number;
  readonly usedMs: number;
  /** Sum over all processors. */
  readonly idleMs: number;
}

/** 100 = one core. */
export interface BusiestSecond {
  readonly percent: number;
  /** CPU time that no process of the machine used in that second. */
  readonly sparePercent: number;
}

const READ_EVERY_MS = 250;
const WINDOW_MS = 1_000;
const HAS_PROC = existsSync("/proc/self/stat");
/** `/proc` counts in hundredths of a second on every Linux, independent of the kernel's tick rate. */
const MS_PER_TICK = 10;

/** The second in which the process used most CPU time; null until a second has passed. */
export function busiestSecond(readings: readonly CpuReading[]): BusiestSecond | null {
  let busiest: BusiestSecond | null = null;
  let start = 0;
  for (const end of readings) {
    // The shortest window that is at least a second long.
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

/** The current reading; null when the process has exited or `/proc` is not readable. */
export function readCpu(pid: number): CpuReading | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name, which may contain spaces and brackets. User and system time follow it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const used = Number(fields[11]) + Number(fields[12]);
    // The columns of the first line: user, nice, system, idle, iowait.
    const [, , , , idle, ioWait] = readFileSync("/proc/stat", "utf8").split(/\s+/, 6);
    const reading = {
      atMs: performance.now(),
      usedMs: used * MS_PER_TICK,
      idleMs: (Number(idle) + Number(ioWait)) * MS_PER_TICK,
    };
    return Object.values(reading).every(Number.isFinite) ? reading : null;
  } catch {
    return null;
  }
}

/** The program's name; null when the process has exited. */
function programOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() || null;
  } catch {
    return null;
  }
}

type GeneratorCpu = Pick<
  ClientReport,
  "generatorCpuPercent" | "generatorSparePercent" | "generatorProcess" | "generatorCpuUnknown"
>;

/** Reads the CPU use of one process until the signal aborts or the process exits. */
class GeneratorWatch {
  private readonly readings: CpuReading[] = [];
  private readonly program: string | null;

  constructor(
    private readonly pid: number,
    until: AbortSignal,
  ) {
    this.program = programOf(pid);
    const timer = setInterval(() => {
      if (!this.read()) clearInterval(timer);
    }, READ_EVERY_MS);
    timer.unref();
    until.addEventListener("abort", () => clearInterval(timer), { once: true });
    this.read();
  }

  /** @returns false when the process has exited */
  private read(): boolean {
    const reading = readCpu(this.pid);
    if (reading !== null) this.readings.push(reading);
    return reading !== null;
  }

  report(): GeneratorCpu {
    if (!HAS_PROC) return { generatorCpuUnknown: "this operating system has no /proc to read CPU use from" };
    // A short run has few readings: this one may complete its only second.
    this.read();
    const busiest = busiestSecond(this.readings);
    if (busiest === null) return { generatorCpuUnknown: "the load generator ran for less than a second" };
    return {
      generatorCpuPercent: Math.round(busiest.percent),
      generatorSparePercent: Math.round(busiest.sparePercent),
      ...(this.program === null ? {} : { generatorProcess: this.program }),
    };
  }
}

const watches = () => processSingleton("generator-watches", () => new Map<string, GeneratorWatch>());

/** Watches the process that sends a run's load, for `withGeneratorCpu`, until the signal aborts. */
export function watchGenerator(runId: string, pid: number, until: AbortSignal): void {
  if (until.aborted) return;
  watches().set(runId, new GeneratorWatch(pid, until));
  until.addEventListener("abort", () => watches().delete(runId), { once: true });
}

/** Adds the generator's CPU use to its report. A figure that the generator measured itself stays. */
export function withGeneratorCpu(runId: string, report: ClientReport): ClientReport {
  if (report.generatorCpuPercent !== undefined) return report;
  const { generatorCpuUnknown: _reported, ...rest } = report;
  const measured = watches().get(runId)?.report() ?? {
    generatorCpuUnknown: "the lab did not start this load generator",
  };
  return { ...rest, ...measured };
}
