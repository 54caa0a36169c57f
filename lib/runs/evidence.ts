import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { notApplicable } from "../history/applicability";
import type { HistoryReport } from "../history/check-history";
import { type Finding, type FindingKind, isViolation, VIOLATION_KINDS, type ViolationKind } from "../history/finding";
import type { History } from "../history/history";
import { firstServedInterleaving, interleavingOf } from "../history/interleaving";
import type { Interleaving } from "../history/merge-steps";
import { runRelativeTimeOf } from "../history/run-relative-time";
import { SERIES_STAGES, type Series, seriesOf } from "../history/series";
import { type Story, storyOf } from "../history/story";
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

/** The story of a run with a fault. */
export interface RunStory extends Story {
  /** The first step of its interleaving, in microseconds since the run's first purchase. */
  readonly fromUs: number;
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
  /** What a fault did; null without a fault. The page of a run with a fault opens on it. */
  readonly story: RunStory | null;
  /** For runs without a violation: the first purchases in order. */
  readonly ordinary: Omit<ExplainedFinding, "finding">;
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
    story: runStoryOf(history, named, explained),
    ordinary: explained(firstServedInterleaving(history)),
    explain(name) {
      const finding = byName.get(name);
      return finding ? { finding, ...explained(interleavingOf(history, finding)) } : null;
    },
  };
}

function runStoryOf(
  history: History,
  named: readonly NamedFinding[],
  explained: (interleaving: Interleaving) => Omit<ExplainedFinding, "finding">,
): RunStory | null {
  const story = storyOf(history, named.filter(isViolation));
  if (!story) return null;
  const { fromNs } = story.interleaving;
  const fromUs = fromNs === null ? 0 : runRelativeTimeOf(history).ofReading(fromNs);
  return { ...story, fromUs, spans: explained(story.interleaving).spans };
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
