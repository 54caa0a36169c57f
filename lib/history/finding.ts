/** What the checkers say. */

/** What each kind means, and how it is counted: docs/history-format.md. */
export const VIOLATION_KINDS = [
  "oversold",
  "lostUpdates",
  "undersold",
  "negativeStock",
  "duplicateClaims",
  "overlappingHolds",
  "staleWrites",
  "fencingOrder",
  "ticketOrder",
  "acknowledgedRows",
  "unknownRows",
  "refusedRows",
  "strayRows",
] as const;
export type ViolationKind = (typeof VIOLATION_KINDS)[number];
export type ViolationCounts = Readonly<Record<ViolationKind, number>>;

/** Reasons why a history proves nothing. */
export type DoubtKind =
  | "unreadableFile"
  | "unreadableLine"
  | "missingRun"
  | "missingEnd"
  | "misplacedLine"
  | "droppedOperations"
  | "duplicateOpId"
  | "timesOutOfOrder"
  | "noContention"
  | "unservedWaiters";

/** Worth knowing, and no reason for anything. */
export type RemarkKind = "fencedOverlap";

export type FindingKind = ViolationKind | DoubtKind | RemarkKind;

export interface Finding {
  readonly kind: FindingKind;
  readonly opIds: readonly string[];
  /** When it happened, on the host's monotonic clock; null where no one moment can be named. */
  readonly atNs: string | null;
  /** What happened, in plain words. */
  readonly sentence: string;
  /** The line of the file, for what is wrong with the file itself. */
  readonly line?: number;
}

export function isViolation({ kind }: Finding): boolean {
  return (VIOLATION_KINDS as readonly string[]).includes(kind);
}

/** What one checker found. `findings` may be fewer than `count`: they are for reading. */
export interface CheckResult {
  readonly count: number;
  readonly findings: readonly Finding[];
}

export const NOTHING_FOUND: CheckResult = { count: 0, findings: [] };

/** Findings kept of each kind: nobody reads more, and a run without a lock can have one an operation. */
export const MAX_FINDINGS_PER_KIND = 100;

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
