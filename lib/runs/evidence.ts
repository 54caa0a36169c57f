import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { notApplicable } from "../history/applicability";
import type { HistoryReport } from "../history/check-history";
import { type Finding, type FindingKind, isViolation, VIOLATION_KINDS, type ViolationKind } from "../history/finding";
import type { History } from "../history/history";
import {
  firstServedInterleaving,
  type Interleaving,
  interleavingOf,
  stoppedHolderInterleaving,
} from "../history/interleaving";
import { runRelativeTimeOf } from "../history/run-relative-time";
import { SERIES_STAGES, type Series, seriesOf } from "../history/series";
import type { Timeline } from "../history/timeline";
import { runStagesYielding, timelineYielding } from "../history/yielding";
import { processSingleton } from "../services/singleton";
import { type CheckedRun, checkedRuns } from "./checked-runs";
import type { RunDocument } from "./document";

/** A finding with the name that its link uses: `lostUpdates-1` is the first lost update. */
export interface NamedFinding extends Finding {
  readonly name: string;
  /** Microseconds since the run's first purchase; null for a sum over the whole run. */
  readonly atUs: number | null;
  readonly isViolation: boolean;
}

/** A finding with the steps that led to it. */
export interface ExplainedFinding {
  readonly finding: NamedFinding;
  readonly interleaving: Interleaving;
  /** Indexes of its purchases in the columns of the timeline. */
  readonly spans: readonly number[];
}

export interface TimelineFault {
  readonly faultId: string;
  readonly fromUs: number;
  readonly toUs: number;
  readonly proof: string;
}

/** What the page of an ended run shows of its history. */
export interface Evidence {
  readonly verdict: HistoryReport["verdict"];
  readonly violations: HistoryReport["violations"];
  readonly measures: HistoryReport["measures"];
  /** Checks that do not apply to this run, with the reason. */
  readonly notApplicable: ReturnType<typeof notApplicable>;
  readonly operations: number;
  readonly timeline: Timeline;
  readonly faults: readonly TimelineFault[];
  /** The run over time; null if nothing was recorded, or several hosts' clocks were used. */
  readonly series: Series | null;
  /** Kinds that show the cause best come first; each kind is ordered by time. */
  readonly findings: readonly NamedFinding[];
  /**
   * For runs without a violation: the holder that a fault stopped, with the holder after it; without such a fault the
   * first purchases in order.
   */
  readonly ordinary: Omit<ExplainedFinding, "finding"> & { readonly faultId: string | null };
  explain(name: string): ExplainedFinding | null;
}

/** Two purchases that overwrote each other show best how an oversell happened, so sums such as `oversold` come later. */
const EXPLAINING_KINDS: readonly ViolationKind[] = [
  "lostUpdates",
  "overlappingHolds",
  "staleWrites",
  "negativeStock",
  "oversold",
  "duplicateClaims",
  "undersold",
  "ticketOrder",
];
const ORDER: readonly FindingKind[] = [
  ...EXPLAINING_KINDS,
  ...VIOLATION_KINDS.filter((kind) => !EXPLAINING_KINDS.includes(kind)),
];

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
    ordinary: ordinaryOf(history, explained),
    explain(name) {
      const finding = byName.get(name);
      return finding ? { finding, ...explained(interleavingOf(history, finding)) } : null;
    },
  };
}

function ordinaryOf(
  history: History,
  explained: (interleaving: Interleaving) => Omit<ExplainedFinding, "finding">,
): Evidence["ordinary"] {
  const stopped = stoppedHolderInterleaving(history);
  if (!stopped) return { ...explained(firstServedInterleaving(history)), faultId: null };
  const { faultId, ...interleaving } = stopped;
  return { ...explained(interleaving), faultId };
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
