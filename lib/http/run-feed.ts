import { setTimeout as delay } from "node:timers/promises";
import { readRun } from "../runs/queries";
import type { RunEvent } from "../runs/run-sample";
import { readSamplesAfter } from "../runs/run-store";
import type { ServerSentEvent } from "./sse";

const POLL_MS = 200;
/** The feed closes after this long. The browser's EventSource then reconnects and resumes. */
const MAX_FEED_MS = 15 * 60_000;

export interface FeedRequest {
  readonly id: string;
  /** The client has the samples up to this number. */
  readonly afterSeq: number;
  readonly signal: AbortSignal;
}

/** Events of a run: `run`, then `sample`s, then `finished`. Reads the database, so every process can serve every run. */
export async function* runFeed({ id, afterSeq, signal }: FeedRequest): AsyncGenerator<ServerSentEvent> {
  let seq = afterSeq;
  const first = await readRun(id);
  if (!first) return;
  yield toEvent({ event: "run", data: first });
  const closeAtMs = performance.now() + MAX_FEED_MS;
  while (!signal.aborted && performance.now() < closeAtMs) {
    // Reads the status before the samples: if the run has finished, its samples are then complete.
    const document = await readRun(id);
    for (const sample of await readSamplesAfter(id, seq)) {
      seq = sample.seq;
      yield toEvent({ event: "sample", data: sample });
    }
    if (document && document.status !== "running") {
      yield toEvent({ event: "finished", data: document });
      return;
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

function toEvent(event: RunEvent): ServerSentEvent {
  const id = event.event === "sample" ? String(event.data.seq) : null;
  return { event: event.event, id, data: JSON.stringify(event.data) };
}
