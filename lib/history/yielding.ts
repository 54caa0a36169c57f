import { setImmediate as turn } from "node:timers/promises";
import { CHECK_STAGES } from "./check-history";
import type { History } from "./history";
import { type HistoryPiece, type HistorySource, type ParsedHistory, parseHistory } from "./parse";
import { TIMELINE_STAGES, timelineOf } from "./timeline";

/** For processes that serve others while they judge: between two pieces of the work the event loop has its turn. */

/** Characters of a history that are read before others get their turn. */
const CHUNK_CHARS = 128 * 1_024;

/** Reads a history and has every checker look at it; what follows, `checkParsedHistory` too, finds the answers there. */
export async function parseAndCheckYielding(pieces: HistorySource): Promise<ParsedHistory> {
  const parsed = await parseHistory(inChunks(pieces));
  await runChecksYielding(parsed.history);
  return parsed;
}

/** Has every checker look at a history, each in a turn of its own. */
export function runChecksYielding(history: History): Promise<void> {
  return runStagesYielding(history, CHECK_STAGES);
}

/** The timeline of a history that has been examined. */
export async function timelineYielding(history: History): Promise<ReturnType<typeof timelineOf>> {
  await runStagesYielding(history, TIMELINE_STAGES);
  return timelineOf(history);
}

/** Asks what is answered once for a history, so that whoever asks again has the answer at once. */
export async function runStagesYielding(
  history: History,
  questions: readonly ((history: History) => unknown)[],
): Promise<void> {
  for (const ask of questions) {
    ask(history);
    await turn();
  }
}

async function* inChunks(pieces: HistorySource): AsyncGenerator<HistoryPiece> {
  for await (const piece of pieces) {
    if (typeof piece !== "string") yield piece;
    else {
      for (let at = 0; at < piece.length; at += CHUNK_CHARS) {
        yield piece.slice(at, at + CHUNK_CHARS);
        await turn();
      }
    }
  }
}
