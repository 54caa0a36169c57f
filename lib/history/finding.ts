/** docs/history-format.md defines each kind and how it is counted. */
export const VIOLATION_KINDS = [
  "oversold",
  "lostUpdates",
  "undersold",
  "counterDrift",
  "negativeStock",
  "duplicateClaims",
  "overlappingHolds",
  "staleWrites",
  "fencingOrder",
  "ticketOrder",
  "acknowledgedRows",
  "failoverLosses",
  "unknownRows",
  "refusedRows",
  "strayRows",
] as const;
export type ViolationKind = (typeof VIOLATION_KINDS)[number];
export type ViolationCounts = Readonly<Record<ViolationKind, number>>;

/** Reasons why a history without violations is not proven safe. */
export const DOUBT_KINDS = [
  "unreadableFile",
  "unreadableLine",
  "missingRun",
  "missingEnd",
  "misplacedLine",
  "droppedOperations",
  "missingOperations",
  "duplicateOpId",
  "timesOutOfOrder",
  "unknownField",
  "missingFields",
  "contradictoryFields",
  "unprovenViolation",
  "noContention",
  "unservedWaiters",
] as const;
export type DoubtKind = (typeof DOUBT_KINDS)[number];

/** Shown to the reader, without effect on the verdict. */
export type RemarkKind = "fencedOverlap" | "refusedStaleWrite";

export type FindingKind = ViolationKind | DoubtKind | RemarkKind;

export interface Finding {
  readonly kind: FindingKind;
  readonly opIds: readonly string[];
  /** A reading of the host's monotonic clock; null if the finding has no single time. */
  readonly atNs: string | null;
  readonly sentence: string;
  /** The number of the bad line, for findings about the file. */
  readonly line?: number;
  /** How many violations have this one cause. Absent: one. */
  readonly covers?: number;
  /** These violations in order of time, at most `MAX_PARTS`. Absent if the finding covers one. */
  readonly parts?: readonly FindingPart[];
  /** The older token of a holder, and the newer one that the resource had seen. Only for fenced writes. */
  readonly tokens?: { readonly stale: string; readonly newest: string };
}

/** One of several violations that have the same cause. */
export type FindingPart = Pick<Finding, "opIds" | "atNs" | "sentence">;

export function isViolation({ kind }: Finding): boolean {
  return (VIOLATION_KINDS as readonly string[]).includes(kind);
}

export function isDoubt({ kind }: Finding): boolean {
  return (DOUBT_KINDS as readonly string[]).includes(kind);
}

/** `findings` explains the first violations, so it may have fewer entries than `count`. */
export interface CheckResult {
  readonly count: number;
  readonly findings: readonly Finding[];
  /** Possible violations that a missing line or field could explain. They are not in `count`. */
  readonly doubts?: readonly Finding[];
}

export const NOTHING_FOUND: CheckResult = { count: 0, findings: [] };

export const LINE_MAY_BE_MISSING = "A missing line could explain this.";
export const FIELD_MAY_BE_MISSING = "A missing field could explain this.";

/** Adds the findings of `unproven` to `proven` as doubts. */
export function withDoubts(proven: CheckResult, unproven: CheckResult, reason: string): CheckResult {
  if (unproven.findings.length === 0) return proven;
  const added = unproven.findings.map(
    (finding): Finding => ({ ...finding, kind: "unprovenViolation", sentence: `${finding.sentence} ${reason}` }),
  );
  return { ...proven, doubts: [...(proven.doubts ?? []), ...added] };
}

/** A run without a lock can have one finding per operation, more than a reader needs. */
export const MAX_FINDINGS_PER_KIND = 100;

/** One holder can be overlapped by thousands. */
export const MAX_PARTS = 20;

/** The fields of a finding that covers these violations. `toPart` runs only for those that are listed. */
export function grouped<T>(
  violations: readonly T[],
  toPart: (violation: T) => FindingPart,
): Pick<Finding, "covers" | "parts"> {
  if (violations.length < 2) return {};
  return { covers: violations.length, parts: violations.slice(0, MAX_PARTS).map(toPart) };
}
