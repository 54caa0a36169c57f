import { z } from "zod";
import { faultsById } from "../faults/all-faults";
import { type ExpectedResult, expectedInMatrix } from "../faults/fault-effects";
import { formatFault } from "../faults/fault-text";
import { FAULT_IDS, type FaultId } from "../faults/ids";
import { crowd, type MatrixSale, RELEASED_WAIT_MS } from "../faults/matrix-sale";
import type { FaultRequest } from "../faults/request";
import { VIOLATION_KINDS } from "../history/finding";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import type { RunDocument } from "./document";

/** The fault matrix: what each fault does to each strategy, measured by runs and compared with what the traits predict. */

export const MEASURED = ["safe", "unsafe", "blocked", "inconclusive"] as const;
export type Measured = (typeof MEASURED)[number];

const millis = z.number().nullable();

/** One run of a cell. */
export const cellResultSchema = z.object({
  strategy: z.string(),
  /** Null: the control of the strategy, a sale without a fault. */
  fault: z.string().nullable(),
  repeat: z.int().min(1),
  measured: z.enum(MEASURED),
  runId: z.string(),
  violations: z.partialRecord(z.enum(VIOLATION_KINDS), z.int().min(1)),
  refusedStaleWrites: z.int().min(0),
  /** How long waiters got no grant at the end of the run. Null: it was not blocked, or it lost its stock counter. */
  blockedMs: millis,
  /** From the start of the fault to the next grant. Null: none, or no purchase waited. */
  nextGrantMs: millis,
  /** From the next grant to the moment at which the holder detected its loss; negative: it detected it before. */
  lossSignalMs: millis,
  /** Purchases that waited after the fault began and did not get the lock. */
  unserved: z.int().min(0),
  unsold: z.int().min(0),
  /** Why the run proves nothing, else what its fault did. Null: a control. */
  evidence: z.string().nullable(),
  elapsedMs: z.number().min(0),
  /** The commit that was measured. Absent: that of the matrix. */
  commit: z.string().optional(),
});
export type CellResult = z.infer<typeof cellResultSchema>;

export const faultMatrixSchema = z.object({
  /** The code that was measured. A result of other code names its commit. */
  version: z.object({ commit: z.string(), sources: z.string() }),
  startedAtEpochMs: z.int(),
  machine: z.object({ cpus: z.int(), cpuModel: z.string(), memoryMb: z.int(), os: z.string() }).nullable(),
  results: z.array(cellResultSchema),
});
export type FaultMatrix = z.infer<typeof faultMatrixSchema>;

/** A run that the matrix needs. */
export interface MatrixRun {
  readonly strategy: string;
  /** Null: the control. */
  readonly fault: FaultId | null;
  readonly repeat: number;
}

export interface MatrixSelection {
  readonly strategies: readonly string[];
  readonly faults: readonly FaultId[];
  readonly repeats: number;
}

/** The runs of a selection: before the cells of a strategy its control, which is all of a strategy that is unsafe. One repeat of all cells comes before the next. */
export function matrixRuns({ strategies, faults, repeats }: MatrixSelection): MatrixRun[] {
  const ofStrategy = (strategy: string): (FaultId | null)[] => {
    const applicable = faults.filter((fault) => expectedOf(strategy, fault).expected !== "not applicable");
    const isControlled = applicable.length > 0 || traitsOf(strategy).expected.threeNodes === "unsafe";
    return isControlled ? [null, ...applicable] : [];
  };
  return Array.from({ length: repeats }, (_, index) =>
    strategies.flatMap((strategy) => ofStrategy(strategy).map((fault) => ({ strategy, fault, repeat: index + 1 }))),
  ).flat();
}

export function expectedOf(strategy: string, fault: FaultId | null): ExpectedResult {
  const traits = traitsOf(strategy);
  if (fault !== null) return expectedInMatrix(fault, traits);
  const expected = traits.expected.threeNodes;
  return { expected, reason: `The control: the strategy is ${expected} on three nodes without a fault.` };
}

export function isSameRun(a: Readonly<Record<keyof MatrixRun, unknown>>, b: MatrixRun): boolean {
  return a.strategy === b.strategy && a.fault === b.fault && a.repeat === b.repeat;
}

/** More buyers than units: a strategy without a lock oversells. */
const CONTROL: Partial<MatrixSale> = { stock: 40, waitTimeoutMs: RELEASED_WAIT_MS };

function saleOf({ strategy, fault }: MatrixRun): MatrixSale {
  const traits = traitsOf(strategy);
  return fault === null ? crowd(traits, CONTROL) : faultsById[fault].matrixSale(traits);
}

/** The body of `POST /api/runs`. */
export function matrixRequest(run: MatrixRun): Readonly<Record<string, unknown>> {
  const { faultAtMs: _at, faultMs: _length, faultServer: _server, ...sale } = saleOf(run);
  const fault = faultOf(run);
  return {
    strategy: run.strategy,
    ...sale,
    ...(fault === null ? {} : { faults: [fault] }),
    seed: run.repeat,
    engine: "builtin",
    launch: true,
  };
}

function faultOf(run: MatrixRun): FaultRequest | null {
  if (run.fault === null) return null;
  const { faultAtMs, faultMs, faultServer } = saleOf(run);
  return {
    id: run.fault,
    atMs: faultAtMs,
    ...(faultMs === undefined ? {} : { durationMs: faultMs }),
    ...(faultServer === undefined ? {} : { server: faultServer }),
  };
}

/** The command that repeats a run of the matrix. */
export function replayCommand(run: MatrixRun): string {
  const { stock, vus, rate, durationMs, holdMs, ttlMs, waitTimeoutMs } = saleOf(run);
  const load = rate === undefined ? `--buyers ${vus}` : `--rate ${rate} --duration-ms ${durationMs}`;
  const sale = `--stock ${stock} ${load} --hold-ms ${holdMs} --ttl-ms ${ttlMs} --wait-timeout-ms ${waitTimeoutMs}`;
  const fault = faultOf(run);
  const flag = fault === null ? "" : ` --fault ${formatFault(fault)}`;
  return `npm run lab -- run --strategy ${run.strategy} ${sale} --engine builtin --seed ${run.repeat}${flag}`;
}

/** A sale is blocked if purchases waited for this long after the last grant and got none. Several times the matrix's lease. */
const BLOCKED_AFTER_MS = 3_000;

/** What a finished run shows. */
export function resultOf(run: MatrixRun, document: RunDocument, elapsedMs: number): CellResult {
  const recovery = document.recovery?.[0] ?? null;
  const withoutGrantMs = recovery === null ? 0 : recovery.watchedMs - (recovery.lastGrantMs ?? 0);
  const isBlocked = recovery !== null && recovery.unserved > 0 && withoutGrantMs > BLOCKED_AFTER_MS;
  const measured = measuredOf(document, isBlocked);
  const evidence = measured === "inconclusive" ? document.sentences.join(" ") : (document.faults[0]?.proof ?? null);
  return {
    ...run,
    measured,
    runId: document.id,
    violations: Object.fromEntries(Object.entries(document.violations).filter(([, count]) => count > 0)),
    refusedStaleWrites: document.refusedStaleWrites ?? 0,
    blockedMs: isBlocked && measured === "blocked" ? withoutGrantMs : null,
    nextGrantMs: recovery?.nextGrantMs ?? null,
    lossSignalMs: recovery?.lossSignalMs ?? null,
    unserved: recovery?.unserved ?? 0,
    unsold: Math.max(0, document.stock.initial - document.stock.orders),
    evidence,
    elapsedMs: Math.round(elapsedMs),
  };
}

function measuredOf({ status, verdict, missedFaults = [], stock }: RunDocument, isBlocked: boolean): Measured {
  if (status !== "finished" || missedFaults.length > 0) return "inconclusive";
  if (verdict === "unsafe") return "unsafe";
  // The strategy sells from its counter, so nothing can be sold any more.
  if (stock.counter === null || isBlocked) return "blocked";
  return verdict;
}

/** A cell of the matrix, or the control of a strategy, with its runs. */
export interface MatrixCell extends ExpectedResult {
  readonly strategy: string;
  readonly fault: FaultId | null;
  readonly results: readonly CellResult[];
  /** True if a run shows something else than expected, or proves nothing. */
  readonly differs: boolean;
}

export function matrixCell(strategy: string, fault: FaultId | null, all: readonly CellResult[]): MatrixCell {
  const expectation = expectedOf(strategy, fault);
  const isNeeded = expectation.expected !== "not applicable";
  const results = isNeeded ? all.filter((result) => result.strategy === strategy && result.fault === fault) : [];
  const differs = results.some(({ measured }) => measured !== expectation.expected);
  return { strategy, fault, ...expectation, results, differs };
}

/** Every cell of the catalogue, controls included. */
export function matrixCells(results: readonly CellResult[]): MatrixCell[] {
  return [...stockStrategies.keys()].flatMap((strategy) =>
    [null, ...FAULT_IDS].map((fault) => matrixCell(strategy, fault, results)),
  );
}
