import { checkAcknowledgedRows } from "./checkers/acknowledged-rows";
import { checkCounterDrift } from "./checkers/counter-drift";
import { checkDuplicateClaims } from "./checkers/duplicate-claims";
import { checkFailoverLosses } from "./checkers/failover-losses";
import { type Fairness, fairnessOf } from "./checkers/fairness";
import { checkFencingOrder } from "./checkers/fencing-order";
import { type HandOff, handOffOf } from "./checkers/hand-off";
import { checkLiveness } from "./checkers/liveness";
import { checkLostUpdates, lateWritesIn, lostUpdatesIn } from "./checkers/lost-updates";
import { checkNegativeStock } from "./checkers/negative-stock";
import { checkOverlappingHolds } from "./checkers/overlapping-holds";
import { checkOversold } from "./checkers/oversold";
import { checkRefusedRows } from "./checkers/refused-rows";
import { checkStaleWrites, staleWritesIn } from "./checkers/stale-writes";
import { checkStrayRows } from "./checkers/stray-rows";
import { checkTicketOrder, TICKET_ORDER_STAGES } from "./checkers/ticket-order";
import { checkUndersold } from "./checkers/undersold";
import { checkUnknownRows } from "./checkers/unknown-rows";
import { contendedSections } from "./contention";
import {
  type CheckResult,
  type Finding,
  isViolation,
  MAX_FINDINGS_PER_KIND,
  VIOLATION_KINDS,
  type ViolationCounts,
  type ViolationKind,
} from "./finding";
import type { History, HistoryStage } from "./history";
import { holdsOf } from "./holds";
import { byHost, peakInFlight } from "./intervals";
import { memoize } from "./memoize";
import { type HistorySource, type ParsedHistory, parseHistory } from "./parse";
import { purchaseGroups } from "./purchase-groups";
import { refusedWriteRemarks, refusedWritesIn } from "./refused-writes";
import { contentionDoubts, type Verdict, verdictOf } from "./verdict";

/** The result of checking a whole history. */
export interface HistoryReport {
  readonly verdict: Verdict;
  readonly violations: ViolationCounts;
  /** Violations by time, then doubts, then remarks. At most 100 of each kind. */
  readonly findings: readonly Finding[];
  readonly measures: Measures;
}

export interface Measures {
  readonly operations: number;
  /** The largest number of purchases in flight at the same time, by one host's clock. */
  readonly peakInFlight: number;
  /** Holds and writes during which another purchase waited, read or wrote. */
  readonly contendedSections: number;
  readonly fairness: Fairness;
  readonly handOff: HandOff;
}

type Checker = (history: History) => CheckResult;

const CHECKERS: Readonly<Record<ViolationKind, Checker>> = memoizeEach({
  oversold: checkOversold,
  lostUpdates: checkLostUpdates,
  undersold: checkUndersold,
  counterDrift: checkCounterDrift,
  negativeStock: checkNegativeStock,
  duplicateClaims: checkDuplicateClaims,
  overlappingHolds: checkOverlappingHolds,
  staleWrites: checkStaleWrites,
  fencingOrder: checkFencingOrder,
  ticketOrder: checkTicketOrder,
  acknowledgedRows: checkAcknowledgedRows,
  failoverLosses: checkFailoverLosses,
  unknownRows: checkUnknownRows,
  refusedRows: checkRefusedRows,
  strayRows: checkStrayRows,
});
export const livenessOf: Checker = memoize(checkLiveness);
export const measuresOf = memoize(measure);

function memoizeEach(checkers: Readonly<Record<ViolationKind, Checker>>): Record<ViolationKind, Checker> {
  const entries = Object.entries(checkers).map(([kind, check]) => [kind, memoize(check)] as const);
  return Object.fromEntries(entries) as Record<ViolationKind, Checker>;
}

function holdsByHost({ ops }: History): unknown {
  return [...byHost(ops).values()].map(holdsOf);
}

/** All work of `checkParsedHistory`. The results are memoized, so it returns at once after a caller has run these. */
export const CHECK_STAGES: readonly HistoryStage[] = [
  ({ rows }) => rows,
  ({ soldOps }) => soldOps,
  purchaseGroups,
  holdsByHost,
  lostUpdatesIn,
  lateWritesIn,
  staleWritesIn,
  ...TICKET_ORDER_STAGES,
  ...Object.values(CHECKERS),
  livenessOf,
  refusedWritesIn,
  ({ ops }) => peakInFlight(ops),
  ({ ops }) => contendedSections(ops),
  measuresOf,
];

interface Found {
  readonly violations: ViolationCounts;
  readonly findings: readonly Finding[];
  readonly doubts: readonly Finding[];
}

/** Finds every violation. Missing operations can hide violations but cannot create any. */
export function findViolations(history: History): Found {
  const results = VIOLATION_KINDS.map((kind) => [kind, CHECKERS[kind](history)] as const);
  const violations = Object.fromEntries(results.map(([kind, { count }]) => [kind, count])) as ViolationCounts;
  const findings = results.flatMap(([, result]) => result.findings);
  const doubts = results.flatMap(([, result]) => result.doubts ?? []).sort(byTime);
  return { violations, findings: findings.sort(byTime), doubts: doubts.slice(0, MAX_FINDINGS_PER_KIND) };
}

/** Parses a history and checks it. Never throws: bad input gives an inconclusive report with doubts. */
export async function checkHistory(source: HistorySource): Promise<HistoryReport> {
  return checkParsedHistory(await parseHistory(source));
}

/** Counts the violations, collects the doubts and derives the verdict (see `verdictOf`). */
export function checkParsedHistory({ history, doubts: fileDoubts }: ParsedHistory): HistoryReport {
  const { violations, findings, doubts: unproven } = findViolations(history);
  const measures = measuresOf(history);
  const doubts = [
    ...fileDoubts,
    ...unproven,
    ...(history.isComplete ? contentionDoubts(measures) : []),
    ...livenessOf(history).findings,
  ];
  const verdict = verdictOf({ violations, doubts });
  const proven = findings.filter(isViolation);
  const remarks = [...findings.filter((finding) => !isViolation(finding)), ...refusedWriteRemarks(history)].sort(
    byTime,
  );
  return { verdict, violations, findings: [...proven, ...doubts, ...remarks], measures };
}

function measure(history: History): Measures {
  const { ops } = history;
  return {
    operations: ops.length,
    peakInFlight: peakInFlight(ops),
    contendedSections: contendedSections(ops),
    fairness: fairnessOf(ops),
    handOff: handOffOf(ops),
  };
}

/** Findings without a time come last: they are totals over the whole run. */
function byTime(a: Finding, b: Finding): number {
  if (a.atNs === null || b.atNs === null) return Number(a.atNs === null) - Number(b.atNs === null);
  // Decimal strings without leading zeros compare by length, then by digits.
  return a.atNs.length - b.atNs.length || (a.atNs < b.atNs ? -1 : a.atNs > b.atNs ? 1 : 0);
}
