import { FAULT_IDS, type FaultId } from "@/lib/faults/ids";
import {
  type CellResult,
  type FaultMatrix,
  type MatrixCell,
  matrixCells,
  replayCommand,
} from "@/lib/runs/fault-matrix";
import { detailText, measuredText, shortDetail, signalText } from "@/lib/runs/fault-matrix-text";

/** What the page of the fault matrix shows. */

export interface CellView {
  readonly fault: FaultId | null;
  readonly kind: "safe" | "unsafe" | "blocked" | "inconclusive" | "mixed" | "none" | "open";
  /** The result, or the expected one if `kind` is `open`: the cell was not run. */
  readonly word: string;
  /** `40 overlaps`; empty if there is none. */
  readonly detail: string;
  readonly expected: MatrixCell["expected"];
  readonly reason: string;
  readonly differs: boolean;
  /** The run if this lab has it, else the explanation of the cell. Null: there is neither. */
  readonly href: string | null;
}

export interface RowView {
  readonly strategy: string;
  readonly cells: readonly CellView[];
}

export const COLUMNS: readonly (FaultId | null)[] = [null, ...FAULT_IDS];

/** @param runIds runs that this lab has */
export function matrixRows(results: readonly CellResult[], runIds: ReadonlySet<string>): RowView[] {
  const rows = new Map<string, CellView[]>();
  for (const cell of matrixCells(results)) {
    rows.set(cell.strategy, [...(rows.get(cell.strategy) ?? []), cellView(cell, runIds)]);
  }
  return [...rows].map(([strategy, cells]) => ({ strategy, cells }));
}

function cellView(cell: MatrixCell, runIds: ReadonlySet<string>): CellView {
  const { fault, expected, reason, differs, results } = cell;
  const common = { fault, expected, reason, differs };
  if (expected === "not applicable") return { ...common, kind: "none", word: "–", detail: "", href: null };
  const explained = `/faults?cell=${cellName(cell)}`;
  const kinds = new Set(results.map(({ measured }) => measured));
  const [first] = kinds;
  if (first === undefined) return { ...common, kind: "open", word: expected, detail: "not run", href: explained };
  const kind = kinds.size === 1 ? first : "mixed";
  // A run that differs shows why the cell does.
  const shown = results.find(({ measured }) => measured !== expected) ?? results[0];
  const href = shown && runIds.has(shown.runId) ? `/runs/${shown.runId}` : explained;
  return { ...common, kind, word: kind, detail: shortDetail(cell), href };
}

/** `redis-lock.pause-holder`, or `redis-lock.control` */
function cellName({ strategy, fault }: Pick<MatrixCell, "strategy" | "fault">): string {
  return `${strategy}.${fault ?? "control"}`;
}

/** The explanation of one cell. */
export interface ExplainedCell {
  readonly title: string;
  /** `unsafe 3 of 3: 40 overlapping holds`; null: not measured */
  readonly measured: string | null;
  readonly expected: string;
  readonly notes: readonly string[];
  readonly command: string;
}

/** @param name as in the address of the page. @returns null if there is no such cell, or the fault does not apply */
export function explainCell(measured: readonly CellResult[], name: string | undefined): ExplainedCell | null {
  const cell = matrixCells(measured).find((each) => cellName(each) === name);
  if (cell === undefined || cell.expected === "not applicable") return null;
  const { strategy, fault, expected, reason, results } = cell;
  const details = detailText(cell);
  const outcome = details === "" ? measuredText(cell) : `${measuredText(cell)}: ${details}`;
  const evidence = new Set(results.flatMap((result) => result.evidence ?? []));
  return {
    title: fault === null ? `${strategy} without a fault` : `${strategy} under ${fault}`,
    measured: results.length === 0 ? null : outcome,
    expected: `${expected}. ${reason}`,
    notes: [...[signalText(cell) ?? []].flat(), ...evidence],
    command: replayCommand({ strategy, fault, repeat: 1 }),
  };
}

/** `302 of 304 cells are as expected` and the circumstances of the measurement. */
export function matrixSummary({ results: all }: FaultMatrix): {
  readonly agreement: string;
  readonly differing: number;
} {
  const measured = matrixCells(all).filter(({ results }) => results.length > 0);
  const differing = measured.filter(({ differs }) => differs).length;
  return {
    agreement: `${measured.length - differing} of ${measured.length} measured cells are as expected`,
    differing,
  };
}
