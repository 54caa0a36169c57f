import { printable, printableLine } from "../../load-tests/lib/printable.js";
import { ERASE_LINE, type Output } from "../shared/terminal";
import { downCommand, upCommand } from "./paths";
import type { LabState, RecordedProcess, Step } from "./state";

/** Prints a start: one line per finished step and, in a terminal, the running steps below. */

const MARKS: Readonly<Record<Step["status"], string>> = { running: "…", done: "✓", missing: "–", failed: "✗" };
const COLOURS: Readonly<Record<Step["status"], string>> = { running: "2", done: "32", missing: "33", failed: "31" };
const NAME_WIDTH = 17;

/** One line, for example `✓ Redis            7.0.15, started on 127.0.0.1:16379 (0.2 s)`. */
export function formatStep(step: Step, useColour: boolean): string {
  const mark = useColour ? `\u001b[${COLOURS[step.status]}m${MARKS[step.status]}\u001b[0m` : MARKS[step.status];
  const detail = printable(step.detail.trimEnd()).replaceAll("\n", "\n    ");
  return `${mark} ${printableLine(step.name).padEnd(NAME_WIDTH)} ${detail} (${(step.durationMs / 1000).toFixed(1)} s)`;
}

export class StepPrinter {
  private out: Output;
  private readonly printed = new Set<string>();
  private running: readonly string[] = [];
  private hasStatusLine = false;

  constructor(out: Output) {
    this.out = out;
  }

  /** Prints the steps that finished since the last call. */
  show(steps: readonly Step[]): void {
    this.clear();
    for (const step of steps) {
      if (step.status === "running" || this.printed.has(step.name)) continue;
      this.printed.add(step.name);
      this.out.write(`${formatStep(step, this.useColour)}\n`);
    }
    this.running = steps.filter((step) => step.status === "running").map((step) => step.name);
    this.showRunning();
  }

  /** Prints the next steps elsewhere. */
  moveTo(out: Output): void {
    this.clear();
    this.out = out;
  }

  note(sentence: string): void {
    this.clear();
    this.out.write(`${printable(sentence)}\n`);
    this.showRunning();
  }

  /** Erases the status line. */
  clear(): void {
    if (!this.hasStatusLine) return;
    this.out.write(ERASE_LINE);
    this.hasStatusLine = false;
  }

  private get useColour(): boolean {
    return this.out.isTTY === true && !process.env.NO_COLOR;
  }

  private showRunning(): void {
    if (this.out.isTTY !== true || this.running.length === 0) return;
    const line = printableLine(`… ${this.running.join(", ")}`).slice(0, Math.max(10, (this.out.columns || 80) - 1));
    this.out.write(line);
    this.hasStatusLine = true;
  }
}

/** What status says about a lab without a supervisor. */
export function formatDown(instance: string, unsupervised: readonly RecordedProcess[]): string {
  if (unsupervised.length === 0) return `The lab "${instance}" is down. Start it with \`${upCommand(instance)}\`.`;
  return [
    `The lab "${instance}" has no supervisor, because it was killed. These processes still run, and nothing restarts them:`,
    ...unsupervised.map(({ name, pid, logFile }) => `  ${name.padEnd(12)} ${String(pid).padStart(7)}  ${logFile}`),
    `To replace them by a new lab, run \`${upCommand(instance)}\`. To stop them, run \`${downCommand(instance)}\`.`,
  ].join("\n");
}

/** The addresses of a running lab. */
export function formatUrls(state: LabState): string {
  const lines = ["", "Flash Sale Lab is up."];
  if (state.dashboardUrl) lines.push(`  dashboard  ${state.dashboardUrl}`);
  for (const node of state.nodes) lines.push(`  ${node.name.padEnd(9)}  ${node.url}`);
  if (!state.dashboardUrl) {
    for (const [name, value] of Object.entries(state.env)) lines.push(`  ${name}=${value}`);
  }
  return `${lines.join("\n")}\n`;
}
