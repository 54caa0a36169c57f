import type { EvidenceLink } from "@/app/_lib/evidence-link";
import { plural } from "@/app/_lib/format";
import { readEvidence } from "@/app/_lib/lab-data";
import { clampRange, rangeAround } from "@/app/_lib/timeline-view";
import type { RunDocument } from "@/lib/runs/document";
import { Evidence } from "./evidence";
import styles from "./evidence.module.css";

/** Where the run's evidence will stand; a long history takes a moment to be judged. */
export function EvidenceToCome({ document }: { document: RunDocument }) {
  return <p className={styles.waiting}>Reading {plural(document.counts.requests, "recorded purchase")} …</p>;
}

/** A run's evidence from its history, opened at what the address names, or at the first violation. */
export async function EvidenceSection({ document, link }: { document: RunDocument; link: EvidenceLink }) {
  const { timeline, faults, findings, violations, verdict, ordinary, explain } = await readEvidence(document);
  const { lanes, depths, hasHolds, endUs, spans } = timeline;
  const opensOn = findings.find(({ name }) => name === link.finding) ?? findings.find(({ isViolation }) => isViolation);
  const first = opensOn ? explain(opensOn.name) : null;
  const whole = { fromUs: 0, toUs: Math.max(1, endUs) };
  const around = rangeAround(spans, (first ?? ordinary).spans, endUs) ?? whole;
  return (
    <Evidence
      runId={document.id}
      verdict={verdict}
      violations={violations}
      lanes={lanes}
      depths={depths}
      hasHolds={hasHolds}
      endUs={endUs}
      faults={faults}
      findings={findings}
      first={first}
      ordinary={ordinary}
      firstRange={link.range ? clampRange(link.range, endUs) : around}
    />
  );
}
