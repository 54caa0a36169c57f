import type { RunSample } from "../../lib/runs/run-sample";
import { printable, printableLine } from "../../load-tests/lib/printable.js";
import { ERASE_LINE, type Output } from "../shared/terminal";

/** The progress of a run on stderr: one line that is rewritten on a terminal, or a new line every few seconds elsewhere. */

/** Interval of lines if they cannot be rewritten. */
const PLAIN_INTERVAL_MS = 5_000;

export class Progress {
  private shownAtMs = performance.now();
  private isLineOpen = false;

  /** @param head text in front of the line while the run is in progress, for example the bar of a sweep */
  constructor(
    private readonly out: Output,
    private readonly label: string,
    private readonly head = "",
  ) {}

  sample(sample: RunSample): void {
    const text = printableLine([this.head, `${this.label}: ${formatSample(sample)}`].filter(Boolean).join("  "));
    if (this.out.isTTY) {
      // A longer line would wrap, and then only its last row could be rewritten.
      this.out.write(`${ERASE_LINE}${text.slice(0, (this.out.columns ?? 120) - 1)}`);
      this.isLineOpen = true;
      return;
    }
    if (performance.now() - this.shownAtMs < PLAIN_INTERVAL_MS) return;
    this.shownAtMs = performance.now();
    this.out.write(`${text}\n`);
  }

  /** Writes the last line. */
  end(text: string): void {
    this.out.write(`${this.isLineOpen ? ERASE_LINE : ""}${printable(`${this.label}: ${text}`)}\n`);
    this.isLineOpen = false;
  }
}

export function formatSample({ atMs, stockLeft, oversold, counts, inFlight }: RunSample): string {
  const seconds = (atMs / 1_000).toFixed(1);
  return `${seconds} s, ${counts.requests} purchases, ${counts.sold} sold, ${stockLeft} left, ${oversold} oversold, ${inFlight} in flight`;
}
