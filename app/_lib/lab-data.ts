import { cache } from "react";
import { evidenceOf } from "@/lib/runs/evidence";
import { describeStrategies } from "@/lib/runs/lab-description";
import { latestRunPerStrategy, listRuns, readRun, readSamples } from "@/lib/runs/queries";
import type { Catalogue } from "./strategy-catalogue";

/** What the pages read on the server; nothing here may be imported by a client component. */

/** Asked for by the layout and by the page; answered once a request. */
export const readCatalogue = cache(async (): Promise<Catalogue> => describeStrategies());

/** What the history of an ended run shows. */
export const readEvidence = evidenceOf;

export { latestRunPerStrategy, listRuns, readRun, readSamples };
