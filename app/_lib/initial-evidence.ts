import type { RunDocument } from "@/lib/runs/document";
import type { Evidence, ExplainedFinding, NamedFinding, TimelineFault } from "@/lib/runs/evidence";
import type { EvidenceParams } from "./evidence-url";
import { readEvidence } from "./lab-data";
import { openingFinding } from "./opening-finding";
import { clampRange, rangeAround, type TimeRange } from "./timeline-view";

/** Evidence that comes with the page. The browser fetches the spans afterwards, and further findings on selection. */
export interface InitialEvidence {
  readonly verdict: Evidence["verdict"];
  /** The run failed: its history may lack purchases that the failure prevented. */
  readonly isFailed: boolean;
  readonly violations: Readonly<Record<string, number>>;
  readonly lanes: readonly string[];
  readonly depths: readonly number[];
  readonly hasHolds: boolean;
  readonly endUs: number;
  readonly faults: readonly TimelineFault[];
  readonly findings: readonly NamedFinding[];
  /** The finding shown first: the linked one, else the first violation; null if there is none. */
  readonly first: ExplainedFinding | null;
  readonly ordinary: Evidence["ordinary"];
  /** What a fault did; null without a fault. */
  readonly story: Evidence["story"];
  /** The link selects a finding or a time range, so these are shown beside the story. */
  readonly isLinked: boolean;
  /** The linked time range, else the range around the first finding. */
  readonly firstRange: TimeRange;
}

/** Reads the history of an ended run. Server-side only. */
export async function loadInitialEvidence(document: RunDocument, link: EvidenceParams): Promise<InitialEvidence> {
  const { timeline, faults, findings, violations, verdict, ordinary, story, explain } = await readEvidence(document);
  const { lanes, depths, hasHolds, endUs, spans } = timeline;
  const opensOn = findings.find(({ name }) => name === link.finding) ?? openingFinding(findings);
  const first = opensOn ? explain(opensOn.name) : null;
  const whole = { fromUs: 0, toUs: Math.max(1, endUs) };
  const around = rangeAround(spans, (first ?? story ?? ordinary).spans, endUs) ?? whole;
  const firstRange = link.range ? clampRange(link.range, endUs) : around;
  const isFailed = document.status === "failed";
  return {
    verdict,
    isFailed,
    violations,
    lanes,
    depths,
    hasHolds,
    endUs,
    faults,
    findings,
    first,
    ordinary,
    story,
    isLinked: link.range !== null || (first !== null && first.finding.name === link.finding),
    firstRange,
  };
}
