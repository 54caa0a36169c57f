import type { RunViews } from "@/lib/http/run-views";
import { exportRun } from "./export/run-export";
import { loadInitialEvidence } from "./initial-evidence";

const NOTHING_LINKED = { finding: null, range: null };

/** What the API serves of a run's pages. */
export const runViews: RunViews = {
  loadInitialEvidence: (document) => loadInitialEvidence(document, NOTHING_LINKED),
  exportRun,
};
