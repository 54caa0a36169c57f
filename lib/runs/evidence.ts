import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { notApplicable } from "../history/applicability";
import type { HistoryReport } from "../history/check-history";
import { type Finding, type FindingKind, isViolation, VIOLATION_KINDS, type ViolationKind } from "../history/finding";
import type { History } from "../history/history";
import { firstServedInterleaving, type Interleaving, interleavingOf } from "../history/interleaving";
import { runRelativeTimeOf } from "../history/run-relative-time";
import { SERIES_STAGES, type Series, seriesOf } from "../history/series";
import type { Timeline } from "../history/timeline";
import { runStagesYielding, timelineYielding } from "../history/yielding";
import { processSingleton } from "../services/singleton";
import { type CheckedRun, checkedRuns } from "./checked-runs";
import type { RunDocument } from "./document";

/** A finding as it can be linked to: `lostUpdates-1` is the first lost update. */
export interface NamedFinding extends Finding {
  readonly name: string;
  /** Microseconds since the run's first purchase; null where it has no moment. */
  readonly atUs: number | null;
  readonly isViolation: boolean;
}

/** A finding with everything that is known of how it came about. */
export interface ExplainedFinding {
  readonly finding: NamedFinding;
  readonly interleaving: Interleaving;
  /** Where the purchases it shows stand in the timeline's columns. */
  readonly spans: readonly number[];
}

export interface TimelineFault {
  readonly faultId: string;
  readonly fromUs: number;
  readonly toUs: number;
  readonly proof: string;
}

/** What a run's history shows, worked out once: a run that has ended does not change. */
export interface Evidence {
  readonly verdict: HistoryReport["verdict"];
  readonly violations: HistoryReport["violations"];
  readonly measures: HistoryReport["measures"];
  /** Why a check had nothing to look at, for those that had not. */
  readonly notApplicable: ReturnType<typeof notApplicable>;
  readonly operations: number;
  readonly timeline: Timeline;
  readonly faults: readonly TimelineFault[];
  /** The run over time; null: nothing was recorded, or several clocks timed it. */
  readonly series: Series | null;
  /** Most telling kind first, each kind in the order of time. */
  readonly findings: readonly NamedFinding[];
  /** The first buyers in their turns, for runs in which nothing went wrong. */
  readonly ordinary: Omit<ExplainedFinding, "finding">;
  explain(name: string): ExplainedFinding | null;
}

/** How an oversell happened shows best in two purchases that overwrote each other; sums come after what they are made of. */
const TELLING: readonly ViolationKind[] = [
  "lostUpdates",
  "overlappingHolds",
  "staleWrites",
  "negativeStock",
  "oversold",
  "duplicateClaims",
  "undersold",
  "ticketOrder",
];
const ORDER: readonly FindingKind[] = [...TELLING, ...VIOLATION_KINDS.filter((kind) => !TELLING.includes(kind))];

/** Evidence goes with the checked history: when that leaves the cache, its evidence does too. */
const evidenceByRun = () => processSingleton("evidence", () => new WeakMap<CheckedRun, Promise<Evidence>>());

/** The evidence of an ended run. Computed once per checked history. */
export async function evidenceOf(document: RunDocument, checks = checkedRuns()): Promise<Evidence> {
  const checked = await checks.of(document);
  const known = evidenceByRun().get(checked);
  if (known) return known;
  const evidence = gather(document, checked);
  evidenceByRun().set(checked, evidence);
  evidence.catch(() => evidenceByRun().delete(checked));
  return evidence;
}

async function gather(document: RunDocument, { parsed, report }: CheckedRun): Promise<Evidence> {
  const { verdict, violations, findings, measures } = report;
  const { history } = parsed;
  const { timeline, indexOf } = await timelineYielding(history);
  await yieldToEventLoop();
  await runStagesYielding(history, SERIES_STAGES);
  const named = nameFindings(history, findings);
  const byName = new Map(named.map((finding) => [finding.name, finding]));
  const explained = (interleaving: Interleaving) => ({
    interleaving,
    spans: interleaving.actors.flatMap(({ opId }) => indexOf.get(opId) ?? []),
  });
  return {
    verdict,
    violations,
    measures,
    notApplicable: notApplicable(history),
    operations: measures.operations,
    timeline,
    faults: faultsOf(document, history),
    series: seriesOf(history),
    findings: named,
    ordinary: explained(firstServedInterleaving(history)),
    explain(name) {
      const finding = byName.get(name);
      return finding ? { finding, ...explained(interleavingOf(history, finding)) } : null;
    },
  };
}

function nameFindings(history: History, findings: readonly Finding[]): NamedFinding[] {
  const place = (kind: FindingKind) => ORDER.indexOf(kind) + 1 || ORDER.length + 1;
  const sorted = [...findings].sort((a, b) => place(a.kind) - place(b.kind));
  const counts = new Map<FindingKind, number>();
  const { ofFinding } = runRelativeTimeOf(history);
  return sorted.map((finding) => {
    const number = (counts.get(finding.kind) ?? 0) + 1;
    counts.set(finding.kind, number);
    return {
      ...finding,
      name: `${finding.kind}-${number}`,
      atUs: ofFinding(finding),
      isViolation: isViolation(finding),
    };
  });
}

function faultsOf({ faults }: RunDocument, history: History): TimelineFault[] {
  const { ofReading } = runRelativeTimeOf(history);
  return faults.map(({ faultId, fromNs, toNs, proof }) => ({
    faultId,
    fromUs: ofReading(fromNs),
    toUs: ofReading(toNs),
    proof,
  }));
}
