import type { FindingKind } from "@/lib/history/finding";

const WORDS: Readonly<Record<FindingKind, readonly [one: string, many: string]>> = {
  oversold: ["Oversold", "Oversold"],
  lostUpdates: ["Lost update", "Lost updates"],
  undersold: ["Undersold", "Undersold"],
  negativeStock: ["Negative stock", "Negative stock"],
  duplicateClaims: ["Duplicate claim", "Duplicate claims"],
  overlappingHolds: ["Overlapping hold", "Overlapping holds"],
  staleWrites: ["Stale write", "Stale writes"],
  fencingOrder: ["Fencing order", "Fencing order"],
  ticketOrder: ["Ticket order", "Ticket order"],
  acknowledgedRows: ["Lost order", "Lost orders"],
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
  const ms = (Math.abs(afterNs) / 1_000_000).toFixed(3);
  return `${afterNs < 0 && Number(ms) !== 0 ? "−" : "+"}${ms}`;
}

/** Time of a finding, in seconds since the first purchase. */
export function findingTimeText(atUs: number | null): string {
  return atUs === null ? "–" : `${(atUs / 1_000_000).toFixed(3)} s`;
}
