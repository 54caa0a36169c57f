import type { RunDocument } from "@/lib/runs/document";
import type { RunEvent, RunSample } from "@/lib/runs/run-sample";
import type { RunAction } from "./run-view";

/** A stream without events for longer counts as lost: a black-holed connection reports no error. */
const SILENCE_LIMIT_MS = 15_000;
/** How long the page reconnects by itself before it shows a button. */
const GIVE_UP_AFTER_MS = 60_000;

/** Backoff between attempts: 0.5, 1, 2, 4, 4 … s. */
export function retryDelayMs(attempt: number): number {
  return Math.min(4_000, 500 * 2 ** Math.min(attempt, 10));
}

/**
 * Follows a run's event stream until the run finishes, the caller stops it, or the lab has not answered for a minute. A new
 * connection replays earlier events; the reducer ignores duplicates.
 * @returns a function that stops following
 */
export function followRun(runId: string, dispatch: (action: RunAction) => void): () => void {
  let source: EventSource | null = null;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let silenceTimer: ReturnType<typeof setTimeout> | undefined;
  let lostAtMs: number | null = null;
  let attempt = 0;

  const stop = () => {
    source?.close();
    source = null;
    clearTimeout(retryTimer);
    clearTimeout(silenceTimer);
  };

  const onLost = () => {
    stop();
    const nowMs = performance.now();
    lostAtMs ??= nowMs;
    if (nowMs - lostAtMs > GIVE_UP_AFTER_MS) {
      dispatch({ type: "stream", stream: "given-up" });
      return;
    }
    dispatch({ type: "stream", stream: "lost" });
    retryTimer = setTimeout(connect, retryDelayMs(attempt));
    attempt += 1;
  };

  const onActivity = () => {
    lostAtMs = null;
    attempt = 0;
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(onLost, SILENCE_LIMIT_MS);
    dispatch({ type: "stream", stream: "open" });
  };

  const receive = (event: RunEvent["event"], message: MessageEvent<string>) => {
    onActivity();
    const data: unknown = JSON.parse(message.data);
    if (event === "sample") dispatch({ type: "event", event: { event, data: data as RunSample } });
    else dispatch({ type: "event", event: { event, data: data as RunDocument } });
    if (event === "finished") stop();
  };

  function connect(): void {
    source = new EventSource(`/api/runs/${encodeURIComponent(runId)}/events`);
    silenceTimer = setTimeout(onLost, SILENCE_LIMIT_MS);
    for (const event of ["run", "sample", "finished"] as const) {
      source.addEventListener(event, (message) => receive(event, message as MessageEvent<string>));
    }
    source.addEventListener("error", onLost);
  }

  connect();
  return stop;
}
