import type { RunDocument } from "@/lib/runs/document";
import { expectedOf, type MatrixRun, matrixRequest, replayCommand } from "@/lib/runs/fault-matrix";
import type { Catalogue } from "../strategy-catalogue";
import type { ChapterCell } from "./chapter";
import { isRunOf, type PresetRequest } from "./learn-state";

/** The run that this lab makes for a step. Server-side only: the faults open connections. */
export interface Preset {
  readonly cell: ChapterCell;
  /** The body of `POST /api/runs`. */
  readonly request: PresetRequest;
  /** Why the result is expected. */
  readonly reason: string;
  /** The same run in a terminal. */
  readonly command: string;
  /** Why the step's first run is not possible in this lab; null if this is the first one. */
  readonly insteadBecause: string | null;
}

export interface NoPreset {
  /** Why each run of the step is not possible in this lab. */
  readonly reasons: readonly string[];
}

/** What the reader predicts. */
export interface Setup {
  readonly cell: ChapterCell;
  readonly sale: Sale;
  readonly insteadBecause: string | null;
}

export type Sale = Pick<PresetRequest, "stock" | "vus" | "rate" | "durationMs" | "holdMs" | "ttlMs">;

/** The setup of the run that is shown, else of the one that this lab makes. Null: there is neither. */
export function setupOf(
  cells: readonly ChapterCell[],
  preset: Preset | NoPreset,
  shown: Pick<RunDocument, "strategy" | "config"> | null,
): Setup | null {
  const cell = shown && cells.find((candidate) => isRunOf(requestOf(candidate), shown));
  if (shown && cell) {
    const { stock, vus, rate, durationMs, holdMs, ttlMs } = shown.config;
    const load = rate === null ? { vus: vus ?? 0 } : { rate, durationMs: durationMs ?? 0 };
    return { cell, sale: { stock, ...load, holdMs, ttlMs }, insteadBecause: null };
  }
  if ("reasons" in preset) return null;
  return { cell: preset.cell, sale: preset.request, insteadBecause: preset.insteadBecause };
}

type LabOffer = Pick<Catalogue, "strategies" | "faults" | "nodes">;

const runOf = ({ strategy, fault }: ChapterCell): MatrixRun => ({ strategy, fault, repeat: 1 });

/** A run of the fault matrix with its settings, so that its result is a result of the matrix too. */
export function requestOf(cell: ChapterCell): PresetRequest {
  return matrixRequest(runOf(cell)) as PresetRequest & Record<string, unknown>;
}

/** The first run of the step that this lab can make. */
export function presetOf(cells: readonly ChapterCell[], lab: LabOffer): Preset | NoPreset {
  const reasons: string[] = [];
  for (const cell of cells) {
    const reason = whyNotHere(cell, lab);
    if (reason === null) {
      return {
        cell,
        request: requestOf(cell),
        reason: expectedOf(cell.strategy, cell.fault).reason,
        command: replayCommand(runOf(cell)),
        insteadBecause: reasons[0] ?? null,
      };
    }
    reasons.push(reason);
  }
  return { reasons };
}

/** Why this lab cannot make the run; null if it can. */
function whyNotHere({ strategy, fault }: ChapterCell, lab: LabOffer): string | null {
  const known = lab.strategies.find(({ id }) => id === strategy);
  if (known === undefined) return `This lab has no strategy ${strategy}.`;
  if (!known.available) return known.unavailableReason ?? `${strategy} is unavailable.`;
  if (lab.nodes.length < 2) return `${strategy} needs at least two store nodes here, and this lab has one.`;
  const against = lab.faults.find(({ id }) => id === fault)?.reasonsAgainst[strategy];
  return against === undefined ? null : `The fault ${fault} is not possible in this lab: ${against}.`;
}
