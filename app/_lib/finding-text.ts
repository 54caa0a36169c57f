import type { Finding, FindingKind } from "@/lib/history/finding";
import type { ExplainedFinding } from "@/lib/runs/evidence";
import { decimals, formatCount, formatStepMs, NO_VALUE, plural } from "./format";

const WORDS: Readonly<Record<FindingKind, readonly [one: string, many: string]>> = {
  oversold: ["Oversold", "Oversold"],
  lostUpdates: ["Lost update", "Lost updates"],
  undersold: ["Undersold", "Undersold"],
  counterDrift: ["Counter drift", "Counter drift"],
  negativeStock: ["Negative stock", "Negative stock"],
  duplicateClaims: ["Duplicate claim", "Duplicate claims"],
  overlappingHolds: ["Overlapping hold", "Overlapping holds"],
  staleWrites: ["Stale write", "Stale writes"],
  fencingOrder: ["Fencing order", "Fencing order"],
  ticketOrder: ["Ticket order", "Ticket order"],
  acknowledgedRows: ["Lost order", "Lost orders"],
  failoverLosses: ["Lost by a failover", "Lost by a failover"],
  unknownRows: ["Duplicate order", "Duplicate orders"],
  refusedRows: ["Rejected but sold", "Rejected but sold"],
  strayRows: ["Stray order", "Stray orders"],
  unreadableFile: ["Unreadable history", "Unreadable history"],
  unreadableLine: ["Unreadable line", "Unreadable lines"],
  missingRun: ["Incomplete history", "Incomplete history"],
  missingEnd: ["Incomplete history", "Incomplete history"],
  misplacedLine: ["Misplaced line", "Misplaced lines"],
  droppedOperations: ["Dropped operations", "Dropped operations"],
  missingOperations: ["Missing operations", "Missing operations"],
  duplicateOpId: ["Repeated operation", "Repeated operations"],
  timesOutOfOrder: ["Times out of order", "Times out of order"],
  unknownField: ["Unknown field", "Unknown fields"],
  missingFields: ["Missing fields", "Missing fields"],
  contradictoryFields: ["Contradictory line", "Contradictory lines"],
  unprovenViolation: ["Possible violation", "Possible violations"],
  noContention: ["No contention", "No contention"],
  unservedWaiters: ["Waiter not served", "Waiters not served"],
  refusedStaleWrite: ["Stale write refused", "Stale writes refused"],
  fencedOverlap: ["Harmless overlap", "Harmless overlaps"],
};

export function kindText(kind: FindingKind, count: number): string {
  return WORDS[kind][count === 1 ? 0 : 1];
}

/** The place of a finding among all, in which the arrows move: "Finding 2 of 3: lost update, at 1.240 s". */
export function positionText<F extends Pick<Finding, "kind"> & { readonly atUs: number | null }>(
  findings: readonly F[],
  chosen: F,
): string {
  const at = chosen.atUs === null ? "" : `, at ${findingTimeText(chosen.atUs)}`;
  const place = `${formatCount(findings.indexOf(chosen) + 1)} of ${formatCount(findings.length)}`;
  return `Finding ${place}: ${kindText(chosen.kind, 1).toLowerCase()}${at}`;
}

/** What an explained finding is called above its steps. */
export function findingTitle({ kind, tokens }: Pick<Finding, "kind" | "tokens">): string {
  if (kind !== "refusedStaleWrite" || tokens === undefined) return "Interleaving";
  return `Fencing refused a stale write: token ${tokens.stale} < ${tokens.newest}`;
}

/** The spans of the purchases that broke a rule. Those that only suffered from it are not among them. */
export function alarmedSpans({ finding, interleaving, spans }: ExplainedFinding): number[] {
  if (!finding.isViolation) return [];
  const marked = new Set(interleaving.steps.filter(({ isMarked }) => isMarked).map(({ opId }) => opId));
  const { actors } = interleaving;
  // A purchase that never entered the critical section has no span, so the places of the others are not known.
  if (marked.size === 0 || actors.length !== spans.length) return [...spans];
  return spans.filter((_, place) => marked.has(actors[place]?.opId ?? null));
}

/** The violations that a group of findings covers: "498 in 3 findings". */
export function coverText(findings: readonly Pick<Finding, "covers">[], count: number): string {
  const covered = findings.reduce((sum, { covers = 1 }) => sum + covers, 0);
  const isGrouped = findings.some(({ covers }) => covers !== undefined);
  const total = formatCount(count || covered);
  const listed = count > covered ? `, first ${formatCount(findings.length)} listed` : "";
  return isGrouped ? `${total} in ${plural(findings.length, "finding")}${listed}` : `${total}${listed}`;
}

/** The findings of one kind, in input order. */
export interface FindingGroup<F> {
  readonly kind: FindingKind;
  readonly findings: readonly F[];
}

export function groupFindings<F extends { readonly kind: FindingKind }>(findings: readonly F[]): FindingGroup<F>[] {
  const groups = new Map<FindingKind, F[]>();
  for (const finding of findings) {
    const known = groups.get(finding.kind);
    if (known) known.push(finding);
    else groups.set(finding.kind, [finding]);
  }
  return [...groups].map(([kind, members]) => ({ kind, findings: members }));
}

/** Time since the first step, in milliseconds: "+0.000", "+12.340", "−38.303" for a step before it. */
export function afterText(afterNs: number): string {
  const ms = formatStepMs(Math.abs(afterNs) / 1_000);
  return `${afterNs < 0 && ms !== formatStepMs(0) ? "−" : "+"}${ms}`;
}

/** Time of a finding, in seconds since the first purchase. */
export function findingTimeText(atUs: number | null): string {
  return atUs === null ? NO_VALUE : `${decimals(atUs / 1_000_000, 3)} s`;
}
