import { type History, hasAcceptedWrite, rowsOf } from "./history";
import { flightsOf, lastSeenNs, waitsOf } from "./intervals";
import { memoize } from "./memoize";
import type { Operation } from "./operation";
import { PHASES, type Phase, phaseDurationsOf } from "./phases";
import { gridOf, peaksIn, type StepGrid, sorted } from "./step-grid";

/**
 * A run over time, in steps of one length. Step i is the time after i * stepUs, up to and including (i + 1) * stepUs,
 * since the run's first purchase was asked for; the first purchase itself is in step 0.
 */
export interface Series {
  /** 1, 2 or 5 times a power of ten. */
  readonly stepUs: number;
  /** Purchases it was made from. */
  readonly operations: number;
  /** Units that were on sale; null: the history does not say. */
  readonly initial: number | null;
  /** Units in orders whose purchase was not recorded: they have no moment and are in no step. */
  readonly unplacedUnits: number;
  readonly steps: StepColumns;
}

/** A value a step each. */
export interface StepColumns {
  /** Units that went into orders. */
  readonly ordered: readonly number[];
  /** What the stock was at the step's end; the last is what the database had in the end. Null: not known. */
  readonly stockLeft: readonly (number | null)[];
  /** Purchases that were answered, whatever the answer. */
  readonly answered: readonly number[];
  /** Of the purchases answered in the step, asked to answered; null where none was. With under 100 of them p99 is the slowest. */
  readonly p50Ms: readonly (number | null)[];
  readonly p99Ms: readonly (number | null)[];
  /** Medians over the purchases answered in the step that went through the phase; connections waited for only in `poolWait`. */
  readonly phaseMediansMs: Readonly<Record<Phase, readonly (number | null)[]>>;
  /** The most at once within the step. */
  readonly inFlight: readonly number[];
  readonly waiting: readonly number[];
}

/**
 * Cuts a run into steps. O(n log n). Null without purchases, and where they were timed by several clocks: what happened
 * on one host has no place on another's time.
 */
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
      p50Ms: latenciesIn(grid).map((values) => quantile(values, 0.5)),
      p99Ms: latenciesIn(grid).map((values) => quantile(values, 0.99)),
      phaseMediansMs: phasesIn(grid),
      inFlight: inFlightIn(grid),
      waiting: waitingIn(grid),
    },
  };
}

/** When a purchase's change of the stock was through, as far as anybody saw. */
function takenNs(op: Operation): number {
  return op.committedNs ?? lastSeenNs(op);
}

/** Units by the database's rows; where those are not known, by the answers. */
const ordersIn = memoize((grid: StepGrid): { ordered: number[]; unplacedUnits: number } => {
  const { history } = grid;
  const { end, soldOps } = history;
  const units = (op: Operation) => (end === null ? op.quantity : sum(rowsOf(history, op).map(quantityOf)));
  const ordered = grid.collect(soldOps, takenNs).map((some) => sum(some.map(units)));
  return { ordered, unplacedUnits: end === null ? 0 : sum(end.orders.map(quantityOf)) - sum(ordered) };
});

/**
 * As the accepted writes leave it. Of two that were worked out from what had been read the one that began later is the
 * later one: so it is with any lock that works, however late the reply to the earlier. Other writes say by how much it fell.
 */
const stockIn = memoize((grid: StepGrid): (number | null)[] => {
  const { history } = grid;
  const { run, end } = history;
  const writers = history.ops.filter((op) => hasAcceptedWrite(history, op));
  const isAbsolute = writers.every(isWorkedOut) && (end?.counter ?? null) === null;
  let stock = run?.initial ?? null;
  let lastWriteNs = -Infinity;
  const left = grid.collect(writers, takenNs).map((some) => {
    for (const { writeNs = 0, writtenValue = 0, quantity } of some) {
      if (!isAbsolute) stock = stock === null ? null : stock - quantity;
      else if (writeNs >= lastWriteNs) [stock, lastWriteNs] = [writtenValue, writeNs];
    }
    return stock;
  });
  if (end !== null) left[grid.count - 1] = end.final;
  return left;
});

/** "What I read, less what I take": an absolute value, not one that the write itself found. */
function isWorkedOut({ readNs, readValue, writeNs, writtenValue, quantity }: Operation): boolean {
  return readValue !== undefined && writtenValue === readValue - quantity && readNs !== writeNs;
}

const answeredIn = memoize((grid: StepGrid) => grid.collect(grid.history.ops, ({ answeredNs }) => answeredNs));

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

/** A purchase without an answer was in flight to the end. */
const inFlightIn = memoize((grid: StepGrid) => {
  const { ops } = grid.history;
  const lost = ops.filter(({ answeredNs }) => answeredNs === undefined);
  return peaksIn([...flightsOf(ops), ...lost.map(({ invokedNs }) => ({ from: invokedNs, to: Infinity }))], grid);
});

const waitingIn = memoize((grid: StepGrid) => peaksIn(waitsOf(grid.history.ops), grid));

/** The pieces of the work, for whoever must not do all of it in one go: asked one after the other, `seriesOf` finds them done. */
export const SERIES_STAGES: readonly ((history: History) => unknown)[] = [
  gridOf,
  ...[ordersIn, stockIn, answeredIn, latenciesIn, phasesIn, inFlightIn, waitingIn].map(
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

/** The smallest value that this share of the values does not exceed. */
function quantile(ascending: Float64Array, share: number): number | null {
  return ascending[Math.ceil(share * ascending.length) - 1] ?? null;
}
