import { plural } from "../services/number-text";
import type { Finding, ViolationKind } from "./finding";

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
  /** Holds and writes during which another purchase waited, read or wrote. */
  readonly contendedSections: number;
}

/** Requests in flight at the same time prove nothing: a lock is tested if a purchase meets a holder or a write. */
export function isContended({ contendedSections }: Pick<ContentionMeasures, "contendedSections">): boolean {
  return contendedSections > 0;
}

/** The doubt about a run in which no purchase met another. */
export function contentionDoubts(measures: ContentionMeasures): Finding[] {
  if (isContended(measures)) return [];
  const { operations, peakInFlight } = measures;
  const all = `None of the ${plural(operations, "purchase")} is known to have waited, read or written while another held the lock or wrote`;
  const inFlight = peakInFlight > 1 ? `, although up to ${peakInFlight} were in flight at the same time` : "";
  const sentence =
    operations === 0
      ? "No purchase was recorded, so the run tested nothing."
      : `${all}${inFlight}, so the run did not test the strategy.`;
  return [{ kind: "noContention", opIds: [], atNs: null, sentence }];
}
