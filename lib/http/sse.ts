import { processSingleton } from "../services/singleton";
import type { StreamedAnswer } from "./answer";
import { HttpError } from "./errors";

export interface ServerSentEvent {
  readonly event: string;
  readonly id: string | null;
  /** Without line breaks. */
  readonly data: string;
}

export interface EventStreamOptions {
  readonly clientClosed: AbortSignal;
  /** Text of the events. Ends soon after the signal aborts. */
  readonly events: (signal: AbortSignal) => AsyncIterable<string>;
  /** Called once, when the stream is over. */
  readonly end?: () => void;
}

/** Open streams in one process. Each costs a socket, and a write for every event. */
export const MAX_STREAMS = 250;
/** A stream ends after this long. The browser's EventSource then reconnects and resumes. */
const MAX_STREAM_MS = 15 * 60_000;

/** Open streams would keep the process alive, so the shutdown ends them. */
function openStreams(): Set<AbortController> {
  return processSingleton("sse.open", () => new Set<AbortController>());
}

export function endAllStreams(): void {
  for (const controller of openStreams()) controller.abort();
}

export function renderEvent({ event, id, data }: ServerSentEvent): string {
  return `event: ${event}\n${id === null ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}

/** @throws HttpError `too_many_streams` */
export function requireFreeStream(): void {
  if (openStreams().size >= MAX_STREAMS) {
    const message = `This process already serves ${MAX_STREAMS} event streams. Retry, or poll the run's samples.`;
    throw new HttpError({ code: "too_many_streams", message });
  }
}

/**
 * Streams events until they end, the client closes the connection, or the process shuts down.
 * @throws HttpError `too_many_streams`
 */
export function eventStream(options: EventStreamOptions): StreamedAnswer {
  requireFreeStream();
  const ending = new AbortController();
  const abort = () => ending.abort();
  const limit = setTimeout(abort, MAX_STREAM_MS);
  limit.unref();
  openStreams().add(ending);
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(limit);
    openStreams().delete(ending);
    options.clientClosed.removeEventListener("abort", end);
    ending.abort();
    options.end?.();
  };
  // Also covers an answer whose body is never read, such as that of a HEAD request.
  options.clientClosed.addEventListener("abort", end);
  if (options.clientClosed.aborted) queueMicrotask(end);
  return {
    status: 200,
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    },
    chunks: chunks(options, { ending: ending.signal, end }),
    code: null,
  };
}

interface Stream {
  readonly ending: AbortSignal;
  readonly end: () => void;
}

async function* chunks({ events }: EventStreamOptions, { ending, end }: Stream): AsyncGenerator<string> {
  try {
    for await (const text of events(ending)) {
      if (ending.aborted) return;
      yield text;
    }
  } finally {
    end();
  }
}
