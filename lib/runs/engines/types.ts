import type { RunDocument } from "../document";

/** Who sends a run's purchases. An engine is a child process: the dashboard's event loop must not compete with it. */

export type EngineId = "k6" | "builtin";

export interface EngineAvailability {
  readonly available: boolean;
  /** As the engine names itself, for run documents; null when it is not there. */
  readonly version: string | null;
  /** Why it is not available and what would make it so; null when it is. */
  readonly reason: string | null;
}

export interface LoadOptions {
  /** An open run; its document says how many buyers come and how. */
  readonly runId: string;
  readonly document: RunDocument;
  /** Where the run is read and finished. */
  readonly dashboardUrl: string;
  readonly adminToken?: string;
  /** Sent with every purchase: the load of a run is not held to a buyer's rate. */
  readonly runKey?: string;
  /** Ends the load early: the process is told to stop, then killed. */
  readonly signal?: AbortSignal;
  /** The engine's own output goes here. */
  readonly logFile: string;
}

export interface LoadResult {
  /** True when the engine sent its load and reported; the verdict is not its business. */
  readonly ok: boolean;
  /** One sentence for the run document when `ok` is false. */
  readonly reason: string | null;
  /** Null when a signal ended the process or it never started. */
  readonly exitCode: number | null;
  readonly elapsedMs: number;
}

export interface LoadEngine {
  readonly id: EngineId;
  detect(): Promise<EngineAvailability>;
  /** Sends the run's load and finishes the run over HTTP. Never rejects for a failing engine: see `LoadResult`. */
  start(options: LoadOptions): Promise<LoadResult>;
}
