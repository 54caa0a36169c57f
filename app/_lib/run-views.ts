import type { RunViews } from "@/lib/http/run-views";
import { exportRun } from "./export/run-export";
import { loadInitialEvidence } from "./initial-evidence";

const NO_PARAMS = { finding: null, range: null };

/** The parts of the run pages that the API serves: evidence and exported files. */
export const runViews: RunViews = {
  loadInitialEvidence: (document) => loadInitialEvidence(document, NO_PARAMS),
  exportRun,
};
