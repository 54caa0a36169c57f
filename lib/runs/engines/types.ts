import type { RunDocument } from "../document";

/** Load generators. Each is a child process, so that it does not compete for the dashboard's event loop. */

export type EngineId = "k6" | "builtin";

export interface EngineAvailability {
  readonly available: boolean;
  /** Name and version for run documents; null if it is not available. */
  readonly version: string | null;
  /** Why it is not available and how to fix that; null if it is available. */
  readonly reason: string | null;
}

export interface LoadOptions {
  /** An open run. */
  readonly runId: string;
  /** Has the number of buyers and how they arrive. */
  readonly document: RunDocument;
  /** Base URL of the API that reads and finishes the run. */
  readonly dashboardUrl: string;
  readonly adminToken?: string;
  /** Sent with every purchase, so that the load is not rate-limited per buyer. */
  readonly runKey?: string;
  /** The engine's process has started. */
  readonly onStart?: () => void;
  /** Ends the load early. */
  readonly signal?: AbortSignal;
  /** Receives the engine's output. */
  readonly logFile: string;
}

export interface LoadResult {
  /** True if the engine sent the load and reported, independent of the verdict. */
  readonly ok: boolean;
  /** One sentence for the run document; null if `ok`. */
  readonly reason: string | null;
  /** Null if a signal ended the process, or it did not start. */
  readonly exitCode: number | null;
  readonly elapsedMs: number;
}

export interface LoadEngine {
  readonly id: EngineId;
  detect(): Promise<EngineAvailability>;
  /** Sends the run's load and finishes the run over HTTP. Never rejects because of the engine: see `LoadResult`. */
  start(options: LoadOptions): Promise<LoadResult>;
}
