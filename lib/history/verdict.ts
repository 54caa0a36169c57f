import { type Finding, plural, type ViolationKind } from "./finding";

/** The one rule from findings to a verdict, for history files and for runs. */

export type Verdict = "safe" | "unsafe" | "inconclusive";

export interface VerdictInputs {
  /** Violations by kind; a kind that was not checked is absent. */
  readonly violations: Readonly<Partial<Record<ViolationKind, number>>>;
  /** Reasons why the absence of violations proves nothing. */
  readonly doubts: readonly unknown[];
}

/** A violation is proof, so it makes a run unsafe even if other evidence is missing. */
export function verdictOf({ violations, doubts }: VerdictInputs): Verdict {
  if (Object.values(violations).some((count) => count > 0)) return "unsafe";
  return doubts.length > 0 ? "inconclusive" : "safe";
}

export interface ContentionMeasures {
  readonly operations: number;
  /** The largest number of purchases in flight at the same time, by one host's clock. */
  readonly peakInFlight: number;
}

/** Two purchases in flight at the same time are the least that tests a lock. */
export function isContended({ peakInFlight }: Pick<ContentionMeasures, "peakInFlight">): boolean {
  return peakInFlight >= 2;
}

/** The doubt about a run in which no two purchases overlapped. */
export function contentionDoubts(measures: ContentionMeasures): Finding[] {
  if (isContended(measures)) return [];
  const { operations } = measures;
  const sentence =
    operations === 0
      ? "No purchase was recorded, so the run tested nothing."
      : `No two of the ${plural(operations, "purchase")} were in flight at the same time, so the run did not test the lock.`;
  return [{ kind: "noContention", opIds: [], atNs: null, sentence }];
}
