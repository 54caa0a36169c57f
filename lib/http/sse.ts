import { processSingleton } from "../services/singleton";
import type { StreamedAnswer } from "./answer";

export interface ServerSentEvent {
  readonly event: string;
  readonly id: string | null;
  /** Without line breaks. */
  readonly data: string;
}

/** Open streams would keep the process alive, so the shutdown ends them. */
function openStreams(): Set<AbortController> {
  return processSingleton("sse.open", () => new Set<AbortController>());
}

export function endAllStreams(): void {
  for (const controller of openStreams()) controller.abort();
}

/** Streams events until they end, the client closes the connection, or the process shuts down. */
export function eventStream(
  clientClosed: AbortSignal,
  events: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
): StreamedAnswer {
  return {
    status: 200,
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    },
    chunks: frames(clientClosed, events),
    code: null,
  };
}

async function* frames(
  clientClosed: AbortSignal,
  events: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
): AsyncGenerator<string> {
  const controller = new AbortController();
  openStreams().add(controller);
  clientClosed.addEventListener("abort", () => controller.abort(), { once: true });
  if (clientClosed.aborted) controller.abort();
  try {
    for await (const { event, id, data } of events(controller.signal)) {
      if (controller.signal.aborted) return;
      yield `event: ${event}\n${id === null ? "" : `id: ${id}\n`}data: ${data}\n\n`;
    }
  } finally {
    openStreams().delete(controller);
    controller.abort();
  }
}
