import { type History, type HistoryStage, hasAcceptedWrite, rowsOf } from "./history";
import { flightsOf, lastSeenNs, waitsOf } from "./intervals";
import { memoize } from "./memoize";
import type { Operation } from "./operation";
import { PHASES, type Phase, phaseDurationsOf } from "./phases";
import { quantile, sorted } from "./quantile";
import { gridOf, peaksIn, type StepGrid } from "./step-grid";
import type { OperationOutcome } from "./types";

/**
 * A run over time, in steps of equal length. Step i covers the time from i * stepUs (exclusive) to (i + 1) * stepUs
 * (inclusive) since the first request; the first request itself is in step 0.
 */
export interface Series {
  /** 1, 2 or 5 times a power of ten. */
  readonly stepUs: number;
  /** The number of purchases in the series. */
  readonly operations: number;
  /** The initial stock; null if the history has no run line. */
  readonly initial: number | null;
  /** Units in orders whose purchase was not recorded: without a time they are in no step. */
  readonly unplacedUnits: number;
  readonly steps: StepColumns;
}

/** Each array has one value per step. */
export interface StepColumns {
  /** Units ordered in the step. */
  readonly ordered: readonly number[];
  /** The stock at the end of the step; the last value is the final stock in the database. Null if unknown. */
  readonly stockLeft: readonly (number | null)[];
  /** Purchases answered in the step, with any outcome. */
  readonly answered: readonly number[];
  /** The same by outcome. */
  readonly answers: Readonly<Record<OperationOutcome, readonly number[]>>;
  /**
   * Latency from request to answer of the purchases answered in the step; null if there are none. Below 100 purchases
   * p99 is the maximum.
   */
  readonly p50Ms: readonly (number | null)[];
  readonly p95Ms: readonly (number | null)[];
  readonly p99Ms: readonly (number | null)[];
  /**
   * Medians over the purchases that were answered in the step and had the phase. Only `poolWait` includes waits for
   * pooled connections.
   */
  readonly phaseMediansMs: Readonly<Record<Phase, readonly (number | null)[]>>;
  /** The largest number at the same time within the step. */
  readonly inFlight: readonly number[];
  readonly waiting: readonly number[];
}

/** Null without purchases, and if several hosts timed them: their clocks are not comparable. O(n log n). */
export function seriesOf(history: History): Series | null {
  const grid = gridOf(history);
  if (grid === null) return null;
  const { ordered, unplacedUnits } = ordersIn(grid);
  return {
    stepUs: grid.stepNs / 1_000,
    operations: history.ops.length,
    initial: history.run?.initial ?? null,
    unplacedUnits,
    steps: {
      ordered,
      stockLeft: stockIn(grid),
      answered: answeredIn(grid).map(({ length }) => length),
      answers: outcomesIn(grid),
      p50Ms: latenciesIn(grid).map((values) => quantile(values, 0.5)),
      p95Ms: latenciesIn(grid).map((values) => quantile(values, 0.95)),
      p99Ms: latenciesIn(grid).map((values) => quantile(values, 0.99)),
      phaseMediansMs: phasesIn(grid),
      inFlight: inFlightIn(grid),
      waiting: waitingIn(grid),
    },
  };
}

/** The recorded time at which a purchase's change of the stock was complete. */
function stockChangedNs(op: Operation): number {
  return op.committedNs ?? lastSeenNs(op);
}

/** Units from the database rows, or from the answers if the history has no rows. */
const ordersIn = memoize((grid: StepGrid): { ordered: number[]; unplacedUnits: number } => {
  const { history } = grid;
  const { end, soldOps } = history;
  const units = (op: Operation) => (end === null ? op.quantity : sum(rowsOf(history, op).map(quantityOf)));
  const ordered = grid.groupByStep(soldOps, stockChangedNs).map((some) => sum(some.map(units)));
  return { ordered, unplacedUnits: end === null ? 0 : sum(end.orders.map(quantityOf)) - sum(ordered) };
});

/**
 * The stock after each accepted write. A read-modify-write sets an absolute value, and the write that started later
 * wins: a correct lock orders writes by start, while replies can arrive in another order. Other writes subtract their
 * quantity.
 */
const stockIn = memoize((grid: StepGrid): (number | null)[] => {
  const { history } = grid;
  const { run, end } = history;
  const writers = history.ops.filter((op) => hasAcceptedWrite(history, op));
  const isAbsolute = writers.every(isReadModifyWrite) && (end?.counter ?? null) === null;
  let stock = run?.initial ?? null;
  let lastWriteNs = -Infinity;
  const left = grid.groupByStep(writers, stockChangedNs).map((some) => {
    for (const { writeNs = 0, writtenValue = 0, quantity } of some) {
      if (!isAbsolute) stock = stock === null ? null : stock - quantity;
      else if (writeNs >= lastWriteNs) [stock, lastWriteNs] = [writtenValue, writeNs];
    }
    return stock;
  });
  if (end !== null) left[grid.count - 1] = end.final;
  return left;
});

/** True if the purchase wrote "value read minus quantity" after a separate read. */
function isReadModifyWrite({ readNs, readValue, writeNs, writtenValue, quantity }: Operation): boolean {
  return readValue !== undefined && writtenValue === readValue - quantity && readNs !== writeNs;
}

const answeredIn = memoize((grid: StepGrid) => grid.groupByStep(grid.history.ops, ({ answeredNs }) => answeredNs));

const outcomesIn = memoize((grid: StepGrid): StepColumns["answers"] => {
  const count = (outcome: OperationOutcome) =>
    answeredIn(grid).map((some) => some.filter((op) => op.outcome === outcome).length);
  return {
    sold: count("sold"),
    sold_out: count("sold_out"),
    contended: count("contended"),
    rejected: count("rejected"),
    error: count("error"),
    unknown: count("unknown"),
  };
});

const latenciesIn = memoize((grid: StepGrid) =>
  answeredIn(grid).map((some) => sorted(some.map((op) => ((op.answeredNs ?? 0) - op.invokedNs) / 1e6))),
);

const phasesIn = memoize((grid: StepGrid): StepColumns["phaseMediansMs"] => {
  const hasPoolWaits = grid.history.ops.some(({ poolWaitUs }) => poolWaitUs !== undefined);
  const medians: Record<Phase, (number | null)[]> = { poolWait: [], wait: [], hold: [], commit: [] };
  for (const ops of answeredIn(grid)) {
    const durations: Record<Phase, number[]> = { poolWait: [], wait: [], hold: [], commit: [] };
    for (const op of ops) {
      for (const [phase, durationMs] of phaseDurationsOf(op)) durations[phase].push(durationMs);
      if (hasPoolWaits && op.poolWaitUs === undefined) durations.poolWait.push(0);
    }
    for (const phase of PHASES) medians[phase].push(quantile(sorted(durations[phase]), 0.5));
  }
  return medians;
});

/** A purchase without an answer counts as in flight until the end. */
const inFlightIn = memoize((grid: StepGrid) => {
  const { ops } = grid.history;
  const lost = ops.filter(({ answeredNs }) => answeredNs === undefined);
  return peaksIn([...flightsOf(ops), ...lost.map(({ invokedNs }) => ({ from: invokedNs, to: Infinity }))], grid);
});

const waitingIn = memoize((grid: StepGrid) => peaksIn(waitsOf(grid.history.ops), grid));

/** All work of `seriesOf`. The results are memoized, so it returns at once after a caller has run these. */
export const SERIES_STAGES: readonly HistoryStage[] = [
  gridOf,
  ...[ordersIn, stockIn, answeredIn, outcomesIn, latenciesIn, phasesIn, inFlightIn, waitingIn].map(
    (part: (grid: StepGrid) => unknown) => (history: History) => {
      const grid = gridOf(history);
      return grid === null ? null : part(grid);
    },
  ),
];

function quantityOf({ quantity }: { readonly quantity: number }): number {
  return quantity;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
