import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { CHECK_STAGES } from "./check-history";
import type { History, HistoryStage } from "./history";
import { type HistoryPiece, type HistorySource, type ParsedHistory, parseHistory } from "./parse";
import { TIMELINE_STAGES, timelineOf } from "./timeline";

/**
 * Checks histories in a process that also serves requests: every function yields to the event loop between its stages.
 */

/** Small enough that parsing one chunk does not delay requests noticeably. */
const CHUNK_CHARS = 128 * 1_024;

/** Parses a history and runs every checker. The results are memoized, so `checkParsedHistory` then returns at once. */
export async function parseAndCheckYielding(pieces: HistorySource): Promise<ParsedHistory> {
  const parsed = await parseHistory(inChunks(pieces));
  await runChecksYielding(parsed.history);
  return parsed;
}

export function runChecksYielding(history: History): Promise<void> {
  return runStagesYielding(history, CHECK_STAGES);
}

/** Fast only after `runChecksYielding`: the timeline marks what the checkers found. */
export async function timelineYielding(history: History): Promise<ReturnType<typeof timelineOf>> {
  await runStagesYielding(history, TIMELINE_STAGES);
  return timelineOf(history);
}

/** Runs memoized stages, so that a later function that needs their results finds them. */
export async function runStagesYielding(history: History, stages: readonly HistoryStage[]): Promise<void> {
  for (const stage of stages) {
    stage(history);
    await yieldToEventLoop();
  }
}

async function* inChunks(pieces: HistorySource): AsyncGenerator<HistoryPiece> {
  for await (const piece of pieces) {
    if (typeof piece !== "string") yield piece;
    else {
      for (let at = 0; at < piece.length; at += CHUNK_CHARS) {
        yield piece.slice(at, at + CHUNK_CHARS);
        await yieldToEventLoop();
      }
    }
  }
}
