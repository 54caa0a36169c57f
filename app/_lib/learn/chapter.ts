import type { FaultId } from "@/lib/faults/ids";

/** A chapter of `/learn`: a failure that the reader predicts and then sees in a run of their own. */

/** What a run can show. The words of the fault matrix. */
export const OUTCOMES = ["safe", "unsafe", "blocked"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A cell of the fault matrix. Null as the fault: the control, a sale without one. */
export interface ChapterCell {
  readonly strategy: string;
  readonly fault: FaultId | null;
  /** What the lab does in this run. */
  readonly setup: string;
}

export interface Answer {
  /** The prediction, as the reader chooses it. */
  readonly claim: string;
  /** Shown after the run to readers who chose it: why it is right, or what it overlooks. */
  readonly reply: string;
}

/** One prediction and its run. In its texts, `code` is code and *term* a term that is defined beside the paragraph. */
export interface ChapterStep {
  readonly text: readonly string[];
  /** The run, and those that replace it if this lab cannot make it. */
  readonly cells: readonly [ChapterCell, ...ChapterCell[]];
  readonly question: string;
  /** The right answer, for which all texts are written. */
  readonly shows: Outcome;
  readonly answers: Readonly<Record<Outcome, Answer>>;
  /** What to remember, shown after the run. */
  readonly lesson: readonly string[];
  /** The link to the next step of the chapter. Absent: the last one. */
  readonly next?: string;
}

export interface Chapter {
  readonly title: string;
  readonly lead: string;
  readonly steps: readonly [ChapterStep, ...ChapterStep[]];
}
