import type { RunDocument } from "../runs/document";
import type { RunEvent, RunSample } from "../runs/run-sample";
import { log } from "../services/log";
import { elapsedMs, nowNs } from "../services/monotonic";
import { renderEvent } from "./sse";

/** A run's document, and its samples after a given number, from one snapshot. */
export interface FeedReading {
  readonly document: RunDocument;
  readonly samples: readonly RunSample[];
}

export interface RunFeedOptions {
  readonly id: string;
  /** @returns null if the run does not exist */
  readonly read: (id: string, afterSeq: number) => Promise<FeedReading | null>;
}

const POLL_MS = 200;
/** After a read that failed. Watchers stay connected during an outage of the database. */
const RETRY_MS = 500;
/** A watcher that is far behind gets its samples in pieces of about this length. */
const MAX_CHUNK_CHARACTERS = 65_536;

/**
 * The live feed of one run in this process. One reader polls the database while the run has watchers, so its cost does not
 * depend on their number. Each watcher takes events from the shared memory at its own pace.
 */
export class RunFeed {
  readonly #options: RunFeedOptions;
  /** Rendered samples in order. */
  readonly #samples: { readonly seq: number; readonly text: string }[] = [];
  /** Watchers that wait for the next event. */
  readonly #waiting = new Set<() => void>();
  #watchers = 0;
  #loading: Promise<boolean> | null = null;
  #document: RunDocument | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: RunFeedOptions) {
    this.#options = options;
  }

  get watchers(): number {
    return this.#watchers;
  }

  /** Every watcher that joins must leave. The reader stops with the last one, and does not start again. */
  join(): void {
    this.#watchers += 1;
  }

  leave(): void {
    this.#watchers -= 1;
    if (this.#watchers === 0 && this.#timer) clearTimeout(this.#timer);
  }

  /** Reads the run and starts the reader, once for all watchers. @returns false if the run does not exist */
  load(): Promise<boolean> {
    this.#loading ??= this.#read().then((exists) => {
      if (exists) this.#schedule(POLL_MS);
      return exists;
    });
    return this.#loading;
  }

  get #hasEnded(): boolean {
    return this.#document !== null && this.#document.status !== "running";
  }

  /** Events of the run as text: `run`, then `sample`s after the given number, then `finished`. */
  async *watch(afterSeq: number, signal: AbortSignal): AsyncGenerator<string> {
    if (this.#document) yield text({ event: "run", data: this.#document });
    let at = this.#samples.findIndex(({ seq }) => seq > afterSeq);
    if (at < 0) at = this.#samples.length;
    while (!signal.aborted) {
      const chunk = this.#chunkFrom(at);
      if (chunk.count > 0) {
        at += chunk.count;
        yield chunk.text;
      } else if (this.#document && this.#hasEnded) {
        yield text({ event: "finished", data: this.#document });
        return;
      } else {
        await this.#changed(signal);
      }
    }
  }

  #chunkFrom(from: number): { readonly text: string; readonly count: number } {
    let text = "";
    let to = from;
    for (; to < this.#samples.length && text.length < MAX_CHUNK_CHARACTERS; to += 1) text += this.#samples[to]?.text;
    return { text, count: to - from };
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  #schedule(delayMs: number): void {
    if (this.#watchers === 0 || this.#hasEnded) return;
    this.#timer = setTimeout(() => void this.#poll(), delayMs);
  }

  async #poll(): Promise<void> {
    const startedNs = nowNs();
    let waitMs = RETRY_MS;
    try {
      await this.#read();
      waitMs = Math.max(0, POLL_MS - elapsedMs(startedNs));
    } catch (error) {
      log().warn({ runId: this.#options.id, reason: (error as Error).message }, "could not read the run's live feed");
    }
    this.#schedule(waitMs);
  }

  async #read(): Promise<boolean> {
    const { id, read } = this.#options;
    const reading = await read(id, this.#samples.at(-1)?.seq ?? 0);
    if (reading === null) return false;
    const hadEnded = this.#hasEnded;
    this.#document = reading.document;
    for (const sample of reading.samples) {
      this.#samples.push({ seq: sample.seq, text: text({ event: "sample", data: sample }) });
    }
    if (reading.samples.length > 0 || this.#hasEnded !== hadEnded) for (const wake of [...this.#waiting]) wake();
    return true;
  }
}

function text(event: RunEvent): string {
  const id = event.event === "sample" ? String(event.data.seq) : null;
  return renderEvent({ event: event.event, id, data: JSON.stringify(event.data) });
}
