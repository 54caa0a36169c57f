import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { log } from "../services/log";
import type { StopOutcome } from "./node-stops";
import { PROCESS_INSTANCE_ID } from "./process-instance";
import { END_MARK, type SpoolSource, SpoolWriter } from "./spool-writer";

/** What earlier process instances of this node recorded of a run. */
export interface SpooledRun {
  readonly ndjson: string;
  /** Process instances that were killed, or could not write everything: some of their operations may be missing. */
  readonly incomplete: number;
  /** The outcomes of the run's stops, if one of them killed the newest instance. */
  readonly stops: readonly StopOutcome[];
}

/** What a process that kills itself leaves: all operations of the run, and the outcomes of its stops. */
export interface LastWords {
  readonly ndjson: string;
  readonly stops: readonly StopOutcome[];
}

/** `<run>~<process instance>.ndjson`, or `.killed` with the last words of an instance, which replace its other file. */
const FILE = /^([A-Za-z0-9_-]{1,64})~([A-Za-z0-9.]+)\.(ndjson|killed)$/;
const RUN_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A folder in which a store node writes what it records, one file per run and process instance. The files survive a SIGKILL
 * of the process, so the next instance of the node can return the operations.
 */
export class Spool {
  constructor(
    private readonly dir: string,
    private readonly instance = PROCESS_INSTANCE_ID,
  ) {}

  /** Creates the run's file, so that a later instance sees that this one served the run. @returns null if it cannot */
  open(runId: string, source: SpoolSource): SpoolWriter | null {
    if (!RUN_ID.test(runId)) return null;
    const file = join(this.dir, `${runId}~${this.instance}.ndjson`);
    try {
      mkdirSync(this.dir, { recursive: true, mode: 0o700 });
      writeFileSync(file, "", { mode: 0o600 });
      return new SpoolWriter(file, source);
    } catch (error) {
      log().warn({ runId, reason: (error as Error).message }, "the run's operations are kept in memory only");
      return null;
    }
  }

  /** @returns null if no earlier instance served the run */
  recover(runId: string): SpooledRun | null {
    const earlier = this.files().filter((file) => file.runId === runId && file.instance !== this.instance);
    if (earlier.length === 0) return null;
    const killed = new Set(earlier.filter(isLastWords).map(({ instance }) => instance));
    const lastWords = earlier
      .filter(isLastWords)
      .sort(byAge)
      .map(({ path }) => readLastWords(path));
    const texts = earlier.filter((file) => !killed.has(file.instance)).map(({ path }) => readFileSync(path, "utf8"));
    return {
      ndjson: [...lastWords.map(({ ndjson }) => ndjson), ...texts.map(wholeLines)].join(""),
      incomplete: texts.filter((text) => !hasEndMark(text)).length,
      stops: lastWords.at(-1)?.stops ?? [],
    };
  }

  /** Synchronous: the process ends right after it. @throws Error if the file cannot be written */
  keepLastWords(runId: string, { ndjson, stops }: LastWords): void {
    if (!RUN_ID.test(runId)) throw new Error(`"${runId}" is not a file name`);
    const path = join(this.dir, `${runId}~${this.instance}.killed`);
    writeFileSync(path, `${JSON.stringify(stops)}\n${ndjson}`, { mode: 0o600 });
  }

  forget(runId: string): void {
    for (const file of this.files()) if (file.runId === runId) rmSync(file.path, { force: true });
  }

  /** Deletes the files of all runs but the newest. */
  keepNewest(runs: number): void {
    const newestFirst = this.files().sort((a, b) => b.changedAtMs - a.changedAtMs);
    const runIds = [...new Set(newestFirst.map(({ runId }) => runId))];
    for (const runId of runIds.slice(runs)) this.forget(runId);
  }

  private files(): SpoolFile[] {
    return namesIn(this.dir).flatMap((name) => {
      const [, runId, instance, kind] = FILE.exec(name) ?? [];
      if (runId === undefined || instance === undefined || kind === undefined) return [];
      const path = join(this.dir, name);
      return [{ path, runId, instance, kind, changedAtMs: statSync(path).mtimeMs }];
    });
  }
}

interface SpoolFile {
  readonly path: string;
  readonly runId: string;
  readonly instance: string;
  readonly kind: string;
  readonly changedAtMs: number;
}

const isLastWords = ({ kind }: SpoolFile) => kind === "killed";
const byAge = (a: SpoolFile, b: SpoolFile) => a.changedAtMs - b.changedAtMs;

function readLastWords(path: string): LastWords {
  const text = readFileSync(path, "utf8");
  const firstLineEnd = text.indexOf("\n");
  const stops = JSON.parse(text.slice(0, firstLineEnd)) as StopOutcome[];
  return { stops, ndjson: text.slice(firstLineEnd + 1) };
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // No run has been served yet.
  }
}

function hasEndMark(text: string): boolean {
  return text === END_MARK || text.endsWith(`\n${END_MARK}`);
}

/** Without the end mark, and without a line that was being written when the process was killed. */
function wholeLines(text: string): string {
  return text.slice(0, hasEndMark(text) ? -END_MARK.length : text.lastIndexOf("\n") + 1);
}
