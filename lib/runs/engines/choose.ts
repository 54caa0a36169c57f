import { createBuiltinEngine } from "./builtin";
import { createK6Engine } from "./k6";
import type { EngineId, LoadEngine } from "./types";

export interface EngineChoice {
  readonly engine: LoadEngine;
  /** As written in the run document. */
  readonly version: string;
  /** Why it is not the requested engine; null if it is. */
  readonly note: string | null;
}

export interface EngineSettings {
  readonly k6Binary?: string | undefined;
  /** The repository; absent: the working directory. */
  readonly rootDir?: string | undefined;
}

export function createEngines({ k6Binary, rootDir = process.cwd() }: EngineSettings): Record<EngineId, LoadEngine> {
  return { k6: createK6Engine({ binary: k6Binary, rootDir }), builtin: createBuiltinEngine({ rootDir }) };
}

/** The requested engine, or the built-in one with a note if k6 is not available. */
export async function chooseEngine(
  wanted: EngineId,
  engines: Readonly<Record<EngineId, LoadEngine>>,
): Promise<EngineChoice> {
  const found = await engines[wanted].detect();
  if (found.available) return { engine: engines[wanted], version: found.version ?? wanted, note: null };
  const fallback = await engines.builtin.detect();
  const note = `The built-in generator is used: ${found.reason}`;
  return { engine: engines.builtin, version: fallback.version ?? "builtin", note };
}
