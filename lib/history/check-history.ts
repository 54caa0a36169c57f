import { checkAcknowledgedRows } from "./checkers/acknowledged-rows";
import { checkDuplicateClaims } from "./checkers/duplicate-claims";
import { type Fairness, fairnessOf } from "./checkers/fairness";
import { checkFencingOrder } from "./checkers/fencing-order";
import { type HandOff, handOffOf } from "./checkers/hand-off";
import { checkLiveness } from "./checkers/liveness";
import { checkLostUpdates, lostUpdatesIn } from "./checkers/lost-updates";
import { checkNegativeStock } from "./checkers/negative-stock";
import { checkOverlappingHolds } from "./checkers/overlapping-holds";
import { checkOversold } from "./checkers/oversold";
import { checkRefusedRows } from "./checkers/refused-rows";
import { checkStaleWrites, staleWritesIn } from "./checkers/stale-writes";
import { checkStrayRows } from "./checkers/stray-rows";
import { checkTicketOrder, TICKET_ORDER_STAGES } from "./checkers/ticket-order";
import { checkUndersold } from "./checkers/undersold";
import { checkUnknownRows } from "./checkers/unknown-rows";
import {
  type CheckResult,
  type Finding,
  isViolation,
  MAX_FINDINGS_PER_KIND,
  VIOLATION_KINDS,
  type ViolationCounts,
  type ViolationKind,
} from "./finding";
import type { History } from "./history";
import { holdsOf } from "./holds";
import { byHost, peakInFlight } from "./intervals";
import { memoize } from "./memoize";
import { type HistorySource, type ParsedHistory, parseHistory } from "./parse";
import { purchaseGroups } from "./purchase-groups";
import { contentionDoubts, type Verdict, verdictOf } from "./verdict";

/** What the lab thinks of a history. */
export interface HistoryReport {
  readonly verdict: Verdict;
  readonly violations: ViolationCounts;
  /** Violations first, in the order in which they happened; then doubts and remarks. At most 100 of each kind. */
  readonly findings: readonly Finding[];
  readonly measures: Measures;
}

export interface Measures {
  readonly operations: number;
  /** The most purchases in flight at once, by one host's clock. */
  readonly peakInFlight: number;
  readonly fairness: Fairness;
  readonly handOff: HandOff;
}

type Checker = (history: History) => CheckResult;

const CHECKERS: Readonly<Record<ViolationKind, Checker>> = onceEach({
  oversold: checkOversold,
  lostUpdates: checkLostUpdates,
  undersold: checkUndersold,
  negativeStock: checkNegativeStock,
  duplicateClaims: checkDuplicateClaims,
  overlappingHolds: checkOverlappingHolds,
  staleWrites: checkStaleWrites,
  fencingOrder: checkFencingOrder,
  ticketOrder: checkTicketOrder,
  acknowledgedRows: checkAcknowledgedRows,
  unknownRows: checkUnknownRows,
  refusedRows: checkRefusedRows,
  strayRows: checkStrayRows,
});
export const livenessOf: Checker = memoize(checkLiveness);
export const measuresOf = memoize(measure);

function onceEach(checkers: Readonly<Record<ViolationKind, Checker>>): Record<ViolationKind, Checker> {
  const entries = Object.entries(checkers).map(([kind, check]) => [kind, memoize(check)] as const);
  return Object.fromEntries(entries) as Record<ViolationKind, Checker>;
}

function heldByHost({ ops }: History): unknown {
  return [...byHost(ops).values()].map(holdsOf);
}

/** All that is ever asked about a history. The answers go with it: judging it once each was asked takes no time. */
export const CHECK_STAGES: readonly ((history: History) => unknown)[] = [
  ({ rows }) => rows,
  ({ soldOps }) => soldOps,
  purchaseGroups,
  heldByHost,
  lostUpdatesIn,
  staleWritesIn,
  ...TICKET_ORDER_STAGES,
  ...Object.values(CHECKERS),
  livenessOf,
  ({ ops }) => peakInFlight(ops),
  measuresOf,
];

/** Every violation in a history. What is missing from it can hide violations and cannot make any. */
export function findViolations(history: History): { violations: ViolationCounts; findings: Finding[] } {
  const results = VIOLATION_KINDS.map((kind) => [kind, CHECKERS[kind](history)] as const);
  const violations = Object.fromEntries(results.map(([kind, { count }]) => [kind, count])) as ViolationCounts;
  const findings = results.flatMap(([, result]) => earliest(result.findings));
  return { violations, findings: findings.sort(byTime) };
}

/** Reads a history and judges it. Never throws, whatever it is given. */
export async function checkHistory(source: HistorySource): Promise<HistoryReport> {
  return checkParsedHistory(await parseHistory(source));
}

/** Counts the violations, lists the doubts, and draws the verdict (see `verdictOf`). */
export function checkParsedHistory({ history, doubts: fileDoubts }: ParsedHistory): HistoryReport {
  const { violations, findings } = findViolations(history);
  const measures = measuresOf(history);
  const doubts = [
    ...fileDoubts,
    ...(history.isComplete ? contentionDoubts(measures) : []),
    ...earliest(livenessOf(history).findings),
  ];
  const verdict = verdictOf({ violations, doubts });
  const proven = findings.filter(isViolation);
  const remarks = findings.filter((finding) => !isViolation(finding));
  return { verdict, violations, findings: [...proven, ...doubts, ...remarks], measures };
}

function measure(history: History): Measures {
  const { ops } = history;
  return {
    operations: ops.length,
    peakInFlight: peakInFlight(ops),
    fairness: fairnessOf(ops),
    handOff: handOffOf(ops),
  };
}

function earliest(findings: readonly Finding[]): Finding[] {
  return [...findings].sort(byTime).slice(0, MAX_FINDINGS_PER_KIND);
}

/** Findings without a moment come last: they are sums over the whole run. */
function byTime(a: Finding, b: Finding): number {
  if (a.atNs === null || b.atNs === null) return Number(a.atNs === null) - Number(b.atNs === null);
  // Decimal strings without leading zeros compare by length, then by digits.
  return a.atNs.length - b.atNs.length || (a.atNs < b.atNs ? -1 : a.atNs > b.atNs ? 1 : 0);
}
