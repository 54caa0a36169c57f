import { setTimeout as delay } from "node:timers/promises";
import { type RunDocument, runDocumentSchema } from "../../lib/runs/document";
import { engineLimitMs } from "../../lib/runs/engines/limits";
import { type RunSample, runSampleSchema } from "../../lib/runs/run-sample";
import { readEvents } from "./event-stream";
import { type LabAddress, labFetch, readRun } from "./lab-client";

/** Time to close and check a run, beyond the engine's own limit. */
const CLOSING_MS = 60_000;
/** Delay before the feed is opened again after it broke. */
const RETRY_MS = 500;

/**
 * Follows a run over its feed until it ends. Reopens a feed that breaks.
 * @throws Error if the run does not end in time
 */
export async function followRun(
  lab: LabAddress,
  opened: RunDocument,
  onSample: (sample: RunSample) => void,
): Promise<RunDocument> {
  const limitMs = engineLimitMs(opened.config) + CLOSING_MS;
  const deadline = AbortSignal.timeout(limitMs);
  let lastProblem = "it is still running";
  while (!deadline.aborted) {
    try {
      const finished = await followOnce({ lab, runId: opened.id, signal: deadline }, onSample);
      if (finished) return finished;
      const document = await readRun(lab, opened.id);
      if (document.status !== "running") return document;
    } catch (error) {
      lastProblem = (error as Error).message;
    }
    await delay(RETRY_MS);
  }
  throw new Error(`Run ${opened.id} did not end within ${limitMs / 1_000} s: ${lastProblem}.`);
}

interface Feed {
  readonly lab: LabAddress;
  readonly runId: string;
  readonly signal: AbortSignal;
}

async function followOnce(feed: Feed, onSample: (sample: RunSample) => void): Promise<RunDocument | null> {
  const path = `/api/runs/${encodeURIComponent(feed.runId)}/events`;
  const response = await labFetch(feed.lab, path, {
    signal: feed.signal,
    headers: { accept: "text/event-stream" },
  });
  if (!response.ok || !response.body) throw new Error(`${path} answered ${response.status}`);
  for await (const { event, data } of readEvents(response.body)) {
    if (event === "sample") onSample(runSampleSchema.parse(JSON.parse(data)));
    if (event === "finished") return runDocumentSchema.parse(JSON.parse(data));
  }
  return null;
}
