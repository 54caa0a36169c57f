import { appendFile } from "node:fs/promises";
import { log } from "../services/log";

/** The last line of the file of a process instance that wrote all its operations. */
export const END_MARK = "end\n";

/** How long an operation may stay unwritten. A killed process loses the operations of this time. */
const WRITE_EVERY_MS = 50;
/** Bounds the time for which formatting keeps purchases waiting. */
const LINES_PER_WRITE = 500;
/** More than 200,000 operations take. */
const MAX_BYTES = 256 * 2 ** 20;

/** The operations of a run that a writer has not written yet. */
export interface SpoolSource {
  readonly size: number;
  /** @returns at most `limit` lines, beginning with the line whose index is `from` */
  text(from: number, limit: number): string;
}

/** Appends what a recorder has recorded to a file, in batches. The hot path only starts a timer. */
export class SpoolWriter {
  private written = 0;
  private bytes = 0;
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    readonly file: string,
    private readonly source: SpoolSource,
    private readonly maxBytes = MAX_BYTES,
  ) {}

  /** Call after each recorded operation. */
  wake(): void {
    if (this.timer !== null || this.isStopped) return;
    this.timer = setTimeout(() => {
      this.writing = this.writePending().finally(() => {
        this.timer = null;
        if (this.written < this.source.size) this.wake();
      });
    }, WRITE_EVERY_MS);
    this.timer.unref();
  }

  /** Writes the rest and marks the file as whole. */
  async end(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    await this.writing;
    await this.writePending();
    if (!this.isStopped) await this.append(END_MARK);
    await this.stop();
  }

  /** Writes nothing more. A write in progress still ends. */
  stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    return this.writing;
  }

  private async writePending(): Promise<void> {
    while (this.written < this.source.size && !this.isStopped) {
      const text = this.source.text(this.written, LINES_PER_WRITE);
      this.written = Math.min(this.source.size, this.written + LINES_PER_WRITE);
      await this.append(text);
    }
  }

  private async append(text: string): Promise<void> {
    this.bytes += Buffer.byteLength(text);
    try {
      if (this.bytes > this.maxBytes) throw new Error(`the run's operations take more than ${this.maxBytes} bytes`);
      await appendFile(this.file, text, { mode: 0o600 });
    } catch (error) {
      this.isStopped = true;
      log().warn(
        { file: this.file, reason: (error as Error).message },
        "the run's operations are now kept in memory only",
      );
    }
  }
}
