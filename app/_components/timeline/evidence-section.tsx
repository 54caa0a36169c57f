import type { EvidenceParams } from "@/app/_lib/evidence-url";
import { plural } from "@/app/_lib/format";
import { loadInitialEvidence } from "@/app/_lib/initial-evidence";
import type { RunDocument } from "@/lib/runs/document";
import { Evidence } from "./evidence";
import styles from "./evidence.module.css";

/** Placeholder while the server reads and checks the history. */
export function EvidenceLoading({ document }: { document: RunDocument }) {
  return <p className={styles.waiting}>Reading {plural(document.counts.requests, "recorded purchase")} …</p>;
}

/** Evidence from the run's history, opened at the finding in the URL or at the first violation. */
export async function EvidenceSection({ document, link }: { document: RunDocument; link: EvidenceParams }) {
  return <Evidence runId={document.id} opening={await loadInitialEvidence(document, link)} isOwnPage />;
}
