import { cache } from "react";
import { evidenceOf } from "@/lib/runs/evidence";
import { type StoredMatrix, storedMatrix } from "@/lib/runs/fault-matrix-file";
import { describeStrategies } from "@/lib/runs/lab-description";
import {
  knownRunIds,
  latestRunPerStrategy,
  listSweeps,
  newestRunsByFault,
  readRun,
  readSamples,
  runsWithoutFaults,
} from "@/lib/runs/queries";
import { listRuns, runFilterChoices } from "@/lib/runs/run-list";
import type { Catalogue } from "./strategy-catalogue";

/** Server-side data of the pages; client components must not import this module. */

/** Cached per request: the layout and the page both call it. */
export const readCatalogue = cache(async (): Promise<Catalogue> => describeStrategies());

/** The fault matrix with the ids of its runs that this lab has. Null: none was measured. */
export async function readFaultMatrix(): Promise<(StoredMatrix & { readonly runIds: ReadonlySet<string> }) | null> {
  const stored = storedMatrix();
  if (stored === null) return null;
  return { ...stored, runIds: await knownRunIds(stored.matrix.results.map(({ runId }) => runId)) };
}

/** Findings and series from the history of an ended run. */
export const readEvidence = evidenceOf;

export {
  latestRunPerStrategy,
  listRuns,
  listSweeps,
  newestRunsByFault,
  readRun,
  readSamples,
  runFilterChoices,
  runsWithoutFaults,
};
