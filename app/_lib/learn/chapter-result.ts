import type { RunDocument } from "@/lib/runs/document";
import { type Measured, matrixCell, resultOf } from "@/lib/runs/fault-matrix";
import { detailText } from "@/lib/runs/fault-matrix-text";
import type { ChapterStep, Outcome } from "./chapter";

/** What the ended run of a step shows, judged as the fault matrix judges it. Server-side only. */
export interface ChapterResult {
  readonly measured: Measured;
  /** "39 overlapping holds, 34 lost updates"; empty if there is nothing to add. */
  readonly detail: string;
  /** The sentence about the reader's prediction; null without one, or if the run proves nothing. */
  readonly judgement: string | null;
  /** Why the prediction is right, or what it overlooks. Null: the run shows something else than the chapter explains. */
  readonly reply: string | null;
  /** Why the verdict is another word than the result; null if it is the same. */
  readonly remark: string | null;
  /** The run shows something else than the chapter explains, or proves nothing: how, and what to do. Null: it does not. */
  readonly surprise: string | null;
}

export function chapterResult(
  { shows, answers }: Pick<ChapterStep, "shows" | "answers">,
  answer: Outcome | null,
  document: RunDocument,
): ChapterResult {
  const fault = document.config.faults?.[0]?.id ?? null;
  const result = resultOf({ strategy: document.strategy, fault, repeat: 1 }, document, document.durationMs ?? 0);
  const { measured } = result;
  const detail = detailText(matrixCell(document.strategy, fault, [result]));
  const isAsExplained = measured === shows;
  return {
    measured,
    detail,
    judgement: measured === "inconclusive" || answer === null ? null : judgementOf(answer, measured),
    reply: isAsExplained ? answers[answer ?? shows].reply : null,
    remark: measured === "blocked" ? BLOCKED_REMARK : null,
    surprise: isAsExplained ? null : surpriseOf(measured, shows),
  };
}

const BLOCKED_REMARK =
  "The verdict below is only about wrong sales, and this run has none. The sale was blocked, because buyers waited for the lock and none of them got it.";

function judgementOf(answer: Outcome, measured: Measured): string {
  return answer === measured
    ? `You predicted ${answer}, and the run is ${measured}.`
    : `You predicted ${answer}, but the run is ${measured}.`;
}

function surpriseOf(measured: Measured, shows: Outcome): string {
  return measured === "inconclusive"
    ? "This run proves nothing, for the reason below. Run it again."
    : `This chapter explains an outcome that is ${shows}, and this run is ${measured}. Run it again, or open the run to see why.`;
}
