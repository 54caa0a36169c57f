import type { z } from "zod";
import type { RunDocument } from "../runs/document";
import type { exportQuerySchema } from "./routes/request-schemas";

/**
 * What the API serves of a run's pages. The pages' code in `app/` implements it and `server.ts` hands it in, because
 * `lib/http` does not import `app`.
 */
export interface RunViews {
  /** What the run's page shows first. */
  loadInitialEvidence(document: RunDocument): Promise<object>;
  /** @returns null if the run has no such latency histogram */
  exportRun(document: RunDocument, query: z.output<typeof exportQuerySchema>): Promise<ExportedFile | null>;
}

export interface ExportedFile {
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
}

/** For processes without pages, for example a benchmark's store node. */
export const NO_VIEWS: RunViews = {
  loadInitialEvidence: () => Promise.reject(new Error("This process serves no run pages.")),
  exportRun: () => Promise.reject(new Error("This process serves no run pages.")),
};
