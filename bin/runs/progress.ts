import type { RunSample } from "../../lib/runs/run-sample";

/** How a run looks while it goes on: one line on stderr, rewritten on a terminal, now and then elsewhere. */

export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Where lines cannot be rewritten, a line this often is enough to see that it lives. */
const PLAIN_INTERVAL_MS = 5_000;

export class Progress {
  private shownAtMs = performance.now();
  private isLineOpen = false;

  /** @param head what stands in front of the line while it goes on, for example the bar of a sweep */
  constructor(
    private readonly out: ProgressOutput,
    private readonly label: string,
    private readonly head = "",
  ) {}

  sample(sample: RunSample): void {
    const text = [this.head, `${this.label}: ${formatSample(sample)}`].filter(Boolean).join("  ");
    if (this.out.isTTY) {
      // A line longer than the terminal would wrap, and only its last row could be rewritten.
      this.out.write(`\r\u001b[K${text.slice(0, (this.out.columns ?? 120) - 1)}`);
      this.isLineOpen = true;
      return;
    }
    if (performance.now() - this.shownAtMs < PLAIN_INTERVAL_MS) return;
    this.shownAtMs = performance.now();
    this.out.write(`${text}\n`);
  }

  /** Leaves a last line and ends. */
  end(text: string): void {
    this.out.write(`${this.isLineOpen ? "\r\u001b[K" : ""}${this.label}: ${text}\n`);
    this.isLineOpen = false;
  }
}

export function formatSample({ atMs, stockLeft, oversold, counts, inFlight }: RunSample): string {
  const seconds = (atMs / 1_000).toFixed(1);
  return `${seconds} s, ${counts.requests} purchases, ${counts.sold} sold, ${stockLeft} left, ${oversold} oversold, ${inFlight} in flight`;
}
