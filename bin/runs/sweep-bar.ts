import { Progress, type ProgressOutput } from "./progress";

/** How a sweep looks while it goes on: a bar over all runs, the run of the moment beside it. */

const WIDTH = 20;

/** `[########------------]`; never full before the end, never empty after the beginning. */
export function bar(done: number, total: number): string {
  const exact = total === 0 ? WIDTH : (done / total) * WIDTH;
  const filled = done >= total ? WIDTH : done === 0 ? 0 : Math.min(WIDTH - 1, Math.max(1, Math.round(exact)));
  return `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}]`;
}

/** `about 40 s left`, from the runs of this sitting; nothing while there is nothing to go by. */
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
    private readonly out: ProgressOutput,
    private readonly total: number,
  ) {}

  /** So many runs are done, those of earlier sittings included. */
  reached(done: number): void {
    if (this.doneBefore === null) {
      this.doneBefore = done;
      if (done > 0) this.note(`${done} of ${this.total} runs were made before; going on with the next.`);
    }
    this.done = done;
  }

  /** The line of one run, with the whole in front of it. */
  progress(label: string): Progress {
    return new Progress(this.out, label, this.head());
  }

  note(text: string): void {
    this.out.write(`${text}\n`);
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
