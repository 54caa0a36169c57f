import type { HistoryReport } from "../../lib/history/check-history";
import type { Finding, FindingKind, ViolationKind } from "../../lib/history/finding";
import type { ParsedHistory } from "../../lib/history/parse";
import { printableLine } from "../../load-tests/lib/printable.js";

/** `--json` prints all findings. */
const MAX_SHOWN = 20;

const LABELS: Readonly<Record<FindingKind, string>> = {
  oversold: "oversold",
  lostUpdates: "lost update",
  undersold: "undersold",
  counterDrift: "counter drift",
  negativeStock: "negative stock",
  duplicateClaims: "over the limit",
  overlappingHolds: "overlapping hold",
  staleWrites: "stale write",
  fencingOrder: "fencing order",
  ticketOrder: "ticket order",
  acknowledgedRows: "sold, no order",
  failoverLosses: "lost by failover",
  unknownRows: "unknown outcome",
  refusedRows: "refused, ordered",
  strayRows: "stray order",
  unreadableFile: "file",
  unreadableLine: "file",
  missingRun: "file",
  missingEnd: "file",
  misplacedLine: "file",
  droppedOperations: "recorder",
  missingOperations: "file",
  duplicateOpId: "file",
  timesOutOfOrder: "file",
  unknownField: "file",
  missingFields: "file",
  contradictoryFields: "file",
  unprovenViolation: "unproven",
  noContention: "contention",
  unservedWaiters: "late waiter",
  refusedStaleWrite: "refused write",
  fencedOverlap: "fenced overlap",
};

const COUNT_LABELS: Readonly<Record<ViolationKind, readonly [one: string, many: string]>> = {
  oversold: ["unit oversold", "units oversold"],
  lostUpdates: ["lost update", "lost updates"],
  undersold: ["unit undersold", "units undersold"],
  counterDrift: ["unit between counter and row", "units between counter and row"],
  negativeStock: ["unit below zero", "units below zero"],
  duplicateClaims: ["unit over a buyer's limit", "units over a buyer's limit"],
  overlappingHolds: ["overlapping hold", "overlapping holds"],
  staleWrites: ["stale write accepted", "stale writes accepted"],
  fencingOrder: ["fencing token out of order", "fencing tokens out of order"],
  ticketOrder: ["answer out of order", "answers out of order"],
  acknowledgedRows: ["sale without exactly one order", "sales without exactly one order"],
  failoverLosses: ["order acknowledged, then lost by a failover", "orders acknowledged, then lost by a failover"],
  unknownRows: ["unknown outcome with two orders", "unknown outcomes with two orders"],
  refusedRows: ["refusal with an order", "refusals with an order"],
  strayRows: ["order without a purchase", "orders without a purchase"],
};

/** Formats a report as text: verdict, counts, the first findings, measures. */
export function formatReport(report: HistoryReport, parsed: ParsedHistory): string {
  const { verdict, findings } = report;
  const shown = findings.slice(0, MAX_SHOWN);
  const omitted = findings.length - shown.length;
  return [
    `${verdict}  ${subject(parsed, report)}`,
    ...counts(report),
    ...(shown.length > 0 ? ["", ...shown.map((finding) => line(finding, parsed))] : []),
    ...(omitted > 0 ? [`  and ${omitted} more: add --json to list them`] : []),
    "",
    ...measures(report),
  ]
    .map(printableLine)
    .join("\n");
}

function subject({ run, lines }: ParsedHistory, { measures: { operations } }: HistoryReport): string {
  const what = run ? `${run.strategy} on ${run.resource}, ${run.initial} units, ` : "";
  return `${what}${operations} purchases in ${lines} lines`;
}

function counts({ violations }: HistoryReport): string[] {
  const found = Object.entries(violations).filter(([, count]) => count > 0) as [ViolationKind, number][];
  return found.map(([kind, count]) => `  ${count} ${COUNT_LABELS[kind][count === 1 ? 0 : 1]}`);
}

function line(finding: Finding, parsed: ParsedHistory): string {
  const ops = finding.opIds.length > 0 ? `  [${finding.opIds.join(", ")}]` : "";
  return `  ${timeOf(finding, parsed).padStart(11)}  ${LABELS[finding.kind].padEnd(16)}  ${finding.sentence}${ops}`;
}

/** Milliseconds since the first request on the same host. */
function timeOf({ atNs, opIds }: Finding, { history }: ParsedHistory): string {
  const ids = new Set(opIds);
  const op = atNs === null ? undefined : history.ops.find(({ opId }) => ids.has(opId));
  if (!op || atNs === null) return "";
  return `${(Number(BigInt(atNs) - op.clock.originNs) / 1e6).toFixed(3)} ms`;
}

function measures({ measures: { peakInFlight, fairness, handOff } }: HistoryReport): string[] {
  const { jain, longestWaitMs } = fairness;
  return [
    `  peak in flight ${peakInFlight}`,
    ...(jain === null
      ? []
      : [`  wait fairness ${jain.toFixed(3)} (Jain's index), longest wait ${longestWaitMs?.toFixed(3)} ms`]),
    ...(handOff.p50Ms === null
      ? []
      : [
          `  hand-off median ${handOff.p50Ms.toFixed(3)} ms, p99 ${handOff.p99Ms?.toFixed(3)} ms (${handOff.count} hand-offs)`,
        ]),
  ];
}
