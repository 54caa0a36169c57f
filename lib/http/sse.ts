import { processSingleton } from "../services/singleton";

export interface ServerSentEvent {
  readonly event: string;
  readonly id: string | null;
  /** One line. */
  readonly data: string;
}

/** Streams that are open now; they would keep the process alive, so shutting down ends them. */
function openStreams(): Set<AbortController> {
  return processSingleton("sse.open", () => new Set<AbortController>());
}

export function endAllStreams(): void {
  for (const controller of openStreams()) controller.abort();
}

/** Serves events until they end, the client leaves, or the process shuts down. */
export function eventStream(
  clientGone: AbortSignal,
  events: (signal: AbortSignal) => AsyncGenerator<ServerSentEvent>,
): Response {
  const controller = new AbortController();
  openStreams().add(controller);
  clientGone.addEventListener("abort", () => controller.abort(), { once: true });
  const iterator = events(controller.signal);
  const encoder = new TextEncoder();
  const end = () => {
    openStreams().delete(controller);
    controller.abort();
  };
  const stream = new ReadableStream<Uint8Array>({
    async pull(sink) {
      const next = await iterator.next();
      if (next.done || controller.signal.aborted) {
        end();
        sink.close();
        return;
      }
      const { event, id, data } = next.value;
      sink.enqueue(encoder.encode(`event: ${event}\n${id === null ? "" : `id: ${id}\n`}data: ${data}\n\n`));
    },
    cancel: end,
  });
  return new Response(stream, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    },
  });
}
