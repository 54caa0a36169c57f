import type { Series } from "@/lib/history/series";
import type { OperationOutcome } from "@/lib/history/types";
import type { TimelineFault } from "@/lib/runs/evidence";
import { ANSWER_KINDS, type AnswerKind, byKind } from "./answer-kinds";
import { plural, settingText } from "./format";
import { type Columns, type RunSeries, STACK_ORDER } from "./run-series";
import { timeAxis } from "./time-axis";

/** Time series from the history. Purchases and faults share one time axis. @param orderedUnits units ordered, by the rows */
export function seriesOfHistory(series: Series, faults: readonly TimelineFault[], orderedUnits: number): RunSeries {
  const { stepUs, operations, steps } = series;
  const recorded = steps.ordered.reduce((sum, units) => sum + units, 0);
  const stepS = stepUs / 1e6;
  // Multiplied, not summed: a running sum would accumulate floating-point error.
  const x = steps.answered.map((_, index) => ((index + 1) * stepUs) / 1e6);
  const columns = (...ys: Columns["ys"][number][]): Columns => ({ x, ys });
  const perSecond = (counts: readonly number[]) => counts.map((count) => count / stepS);
  const step = stepText(stepUs);
  return {
    source: `from ${plural(operations, "recorded purchase")} in ${step} steps${unrecordedText(orderedUnits - recorded)}`,
    latencySpan: `${step} steps`,
    inFlightUnit: `peak in ${step} steps`,
    axis: timeAxis(x.at(-1) ?? stepS, stepS),
    blank: "No data recorded",
    stock: stockColumns(series, x),
    phases: columns(...STACK_ORDER.map((phase) => steps.phaseMediansMs[phase])),
    answers: columns(...ANSWER_KINDS.map((kind) => perSecond(answersOf(steps, kind)))),
    latency: columns(steps.p50Ms, steps.p95Ms, steps.p99Ms),
    inside: columns(steps.inFlight, steps.waiting),
    bands: faults.map(({ faultId, fromUs, toUs }) => ({ label: faultId, fromS: fromUs / 1e6, toS: toUs / 1e6 })),
  };
}

function answersOf({ answered, answers }: Series["steps"], kind: AnswerKind): number[] {
  return answered.map((_, step) => {
    const at = (outcome: OperationOutcome) => answers[outcome][step] ?? 0;
    const counts = { sold: at("sold"), soldOut: at("sold_out"), contended: at("contended"), rejected: at("rejected") };
    return byKind({ ...counts, errors: at("error"), unknown: at("unknown") })[kind];
  });
}

/** Values at the start of the sale and at the end of each step. */
function stockColumns({ initial, steps }: Series, x: readonly number[]): Columns {
  let ordered = 0;
  const orders = steps.ordered.map((units) => {
    ordered += units;
    return ordered;
  });
  const beyond = orders.map((units) => (initial === null ? null : Math.max(0, units - initial)));
  return {
    x: [0, ...x],
    ys: [
      [0, ...orders],
      [initial, ...steps.stockLeft],
      [initial === null ? null : 0, ...beyond],
    ],
  };
}

/** Rows without a recorded purchase are not in the charts. */
function unrecordedText(units: number): string {
  if (units <= 0) return "";
  return `; ${plural(units, "ordered unit")} ${units === 1 ? "has" : "have"} no recorded purchase`;
}

/** "5 ms", "0.2 ms", "2 s". */
function stepText(stepUs: number): string {
  return settingText(stepUs / 1_000);
}
