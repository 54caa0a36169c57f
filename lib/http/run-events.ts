import { setTimeout as delay } from "node:timers/promises";
import type { RunEvent } from "../runs/document";
import { readRun } from "../runs/queries";
import { readSamplesAfter } from "../runs/run-store";
import type { ServerSentEvent } from "./sse";

const POLL_MS = 200;
/** A feed is closed after this long; the browser's EventSource comes back and resumes. */
const MAX_FEED_MS = 15 * 60_000;

export interface FeedRequest {
  readonly id: string;
  /** Samples up to this number have been seen. */
  readonly afterSeq: number;
  readonly signal: AbortSignal;
}

/** The events of a run, from the database, so that any process can serve any run: `run`, `sample`s, `finished`. */
export async function* runEvents({ id, afterSeq, signal }: FeedRequest): AsyncGenerator<ServerSentEvent> {
  let seq = afterSeq;
  const first = await readRun(id);
  if (!first) return;
  yield toEvent({ event: "run", data: first });
  const closeAtMs = performance.now() + MAX_FEED_MS;
  while (!signal.aborted && performance.now() < closeAtMs) {
    // The status is read before the samples: those of an ended run are then complete.
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
