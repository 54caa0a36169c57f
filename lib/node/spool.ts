import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { log } from "../services/log";
import { PROCESS_INSTANCE_ID } from "./process-instance";
import { END_MARK, type SpoolSource, SpoolWriter } from "./spool-writer";

/** What earlier process instances of this node recorded of a run. */
export interface SpooledRun {
  readonly ndjson: string;
  /** Process instances that were killed, or could not write everything: some of their operations may be missing. */
  readonly incomplete: number;
}

/** `<run>~<process instance>.ndjson` */
const FILE = /^([A-Za-z0-9_-]{1,64})~([A-Za-z0-9.]+)\.ndjson$/;
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
    const texts = earlier.map(({ path }) => readFileSync(path, "utf8"));
    return { ndjson: texts.map(wholeLines).join(""), incomplete: texts.filter((text) => !hasEndMark(text)).length };
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

  private files(): { path: string; runId: string; instance: string; changedAtMs: number }[] {
    return namesIn(this.dir).flatMap((name) => {
      const [, runId, instance] = FILE.exec(name) ?? [];
      if (runId === undefined || instance === undefined) return [];
      const path = join(this.dir, name);
      return [{ path, runId, instance, changedAtMs: statSync(path).mtimeMs }];
    });
  }
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
