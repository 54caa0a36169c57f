import { decimals, plainNumber } from "./format";

/** Time axis of the charts: milliseconds if it ends within a second, else seconds. */
export interface TimeAxis {
  readonly endS: number;
  readonly unit: "ms" | "s";
  /** Decimals needed to distinguish two steps. */
  readonly digits: number;
}

export function timeAxis(endS: number, stepS: number): TimeAxis {
  const unit = endS < 1 ? "ms" : "s";
  const step = unit === "ms" ? stepS * 1_000 : stepS;
  return { endS, unit, digits: step > 0 ? Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)) : 0 };
}

/** A time without unit, for a column whose heading has it: "395", "1.28". */
export function timeCell({ unit, digits }: TimeAxis, seconds: number): string {
  return decimals(unit === "ms" ? seconds * 1_000 : seconds, digits);
}

/** "395 ms", "1.28 s". */
export function timeText(axis: TimeAxis, seconds: number): string {
  return `${timeCell(axis, seconds)} ${axis.unit}`;
}

/** Axis labels for these times; the last one has the unit. */
export function tickLabels(unit: TimeAxis["unit"], seconds: readonly number[]): string[] {
  const numbers = seconds.map((at) => plainNumber(unit === "ms" ? at * 1_000 : at));
  return numbers.map((text, index) => (index === numbers.length - 1 ? `${text} ${unit}` : text));
}
