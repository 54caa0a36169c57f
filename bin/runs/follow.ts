import { setTimeout as delay } from "node:timers/promises";
import { type RunDocument, runDocumentSchema } from "../../lib/runs/document";
import { engineLimitMs } from "../../lib/runs/engines/limits";
import { type RunSample, runSampleSchema } from "../../lib/runs/run-sample";
import { readEvents } from "./event-stream";
import { type LabAddress, labFetch, readRun } from "./lab-client";

/** Beyond the engine's own limit: closing, draining and judging a run. */
const CLOSING_MS = 60_000;
/** After a broken feed, before the next try. */
const RETRY_MS = 500;

/**
 * Follows a run to its end over its feed; a feed that breaks is taken up again.
 * @throws Error when the run has not ended within its bound
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
  throw new Error(`Run ${opened.id} did not end within ${limitMs / 1_000} s: ${lastProblem}`);
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
