import { checkParsedHistory, type HistoryReport } from "../history/check-history";
import type { HistorySource, ParsedHistory } from "../history/parse";
import { parseAndCheckYielding } from "../history/yielding";
import { processSingleton } from "../services/singleton";
import type { RunDocument } from "./document";
import { historyPieces } from "./history-export";

/** A run's history with the result of every check. */
export interface CheckedRun {
  readonly parsed: ParsedHistory;
  readonly report: HistoryReport;
}

/** Parses a history and runs every check on it. Yields to the event loop, because the dashboard serves pages meanwhile. */
export async function checkRun(source: HistorySource): Promise<CheckedRun> {
  const parsed = await parseAndCheckYielding(source);
  return { parsed, report: checkParsedHistory(parsed) };
}

/** The parsed history of 100,000 operations takes about 80 MB. */
const MAX_OPERATIONS = 150_000;

interface CachedRun {
  readonly checked: Promise<CheckedRun>;
  readonly operations: number;
}

export interface UncheckedRun {
  readonly id: string;
  readonly operations: number;
  readonly history: HistorySource;
}

/** Checks each run once: closing a run and its page share the result. Keeps the most recently used runs. */
export class CheckedRuns {
  private readonly cache = new Map<string, CachedRun>();

  constructor(private readonly check = checkRun) {}

  /** Checks a run that was just closed, from the history that its nodes returned. */
  checkClosed({ id, operations, history }: UncheckedRun): Promise<CheckedRun> {
    return this.keep(id, { checked: this.check(history), operations });
  }

  /** The result for a run that was closed earlier. Reads and checks the stored history if this process has not done so. */
  of(document: RunDocument): Promise<CheckedRun> {
    const { id, counts } = document;
    const cached = this.cache.get(id);
    return this.keep(id, cached ?? { checked: this.check(historyPieces(document)), operations: counts.requests });
  }

  private keep(id: string, run: CachedRun): Promise<CheckedRun> {
    // The last key of a Map is its newest: re-inserting marks this run as the most recently used.
    this.cache.delete(id);
    this.cache.set(id, run);
    run.checked.catch(() => {
      if (this.cache.get(id) === run) this.cache.delete(id);
    });
    this.evict();
    return run.checked;
  }

  private evict(): void {
    let operations = [...this.cache.values()].reduce((sum, run) => sum + run.operations, 0);
    for (const [id, run] of this.cache) {
      if (operations <= MAX_OPERATIONS || this.cache.size === 1) return;
      this.cache.delete(id);
      operations -= run.operations;
    }
  }
}

export function checkedRuns(): CheckedRuns {
  return processSingleton("checked-runs", () => new CheckedRuns());
}
