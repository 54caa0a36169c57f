import type { RunCounts } from "@/lib/node/figures";

/** The answers of a sale in four kinds, for charts: the first two end a purchase as intended, the others do not. */

export type AnswerKind = "sold" | "soldOut" | "refused" | "failed";

/** Bottom to top in a stack. */
export const ANSWER_KINDS: readonly AnswerKind[] = ["sold", "soldOut", "refused", "failed"];

export const ANSWER_LABELS: Record<AnswerKind, string> = {
  sold: "sold",
  soldOut: "sold out",
  refused: "refused",
  failed: "failed",
};

export const ANSWER_MEANINGS: Record<AnswerKind, string> = {
  sold: "Purchases that received a success response",
  soldOut: "Purchases that were told that nothing is left",
  refused: "Purchases that timed out waiting for the lock, or that a limit rejected",
  failed: "Purchases that ended with an error, or whose outcome is unknown",
};

type Outcomes = Omit<RunCounts, "requests">;

/** The numbers of answers by kind. */
export function byKind({ sold, soldOut, contended, rejected, errors, unknown }: Outcomes): Record<AnswerKind, number> {
  return { sold, soldOut, refused: contended + rejected, failed: errors + unknown };
}
