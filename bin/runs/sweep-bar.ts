import { printable } from "../../load-tests/lib/printable.js";
import type { Output } from "../shared/terminal";
import { Progress } from "./progress";

/** The progress of a sweep: a bar over all runs, and the line of the current run. */

const WIDTH = 20;

/** `[########------------]`. Full only at the end, empty only at the start. */
export function bar(done: number, total: number): string {
  const exact = total === 0 ? WIDTH : (done / total) * WIDTH;
  const filled = done >= total ? WIDTH : done === 0 ? 0 : Math.min(WIDTH - 1, Math.max(1, Math.round(exact)));
  return `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}]`;
}

/** `about 40 s left`, estimated from the runs that this command made; empty before the first one. */
export function timeLeft({ made, left, elapsedMs }: { made: number; left: number; elapsedMs: number }): string {
  if (made === 0 || left === 0) return "";
  const seconds = ((elapsedMs / made) * left) / 1_000;
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s left`;
  return `about ${Math.round(seconds / 60)} min left`;
}

export class SweepBar {
  private readonly startedAtMs = performance.now();
  private doneBefore: number | null = null;
  private done = 0;

  constructor(
    private readonly out: Output,
    private readonly total: number,
  ) {}

  /** @param done runs done, including those of an earlier command */
  reached(done: number): void {
    if (this.doneBefore === null) {
      this.doneBefore = done;
      if (done > 0) this.note(`${done} of ${this.total} runs are done; continuing with the next one.`);
    }
    this.done = done;
  }

  /** The progress of one run, with the bar in front of it. */
  progress(label: string): Progress {
    return new Progress(this.out, label, this.head());
  }

  note(text: string): void {
    this.out.write(`${printable(text)}\n`);
  }

  close(): void {
    this.note(`${bar(this.done, this.total)} ${this.done}/${this.total} runs`);
  }

  private head(): string {
    const made = this.done - (this.doneBefore ?? 0);
    const left = timeLeft({ made, left: this.total - this.done, elapsedMs: performance.now() - this.startedAtMs });
    return [`${bar(this.done, this.total)} ${this.done}/${this.total}`, left].filter(Boolean).join(", ");
  }
}
