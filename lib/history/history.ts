import { precedesFailover } from "./failover";
import { memoize } from "./memoize";
import type { Fault, Operation } from "./operation";
import type { HistoryEndLine, HistoryOrder, HistoryRunLine } from "./types";

/** The facts about a run, from its history file. */
export interface HistoryFacts {
  readonly run: Pick<HistoryRunLine, "initial" | "limitPerBuyer" | "fencing" | "servedWithinMs"> | null;
  readonly ops: readonly Operation[];
  readonly faults: readonly Fault[];
  readonly end: Pick<HistoryEndLine, "final" | "counter" | "orders"> | null;
  /** True if `ops` has every purchase of the run: no dropped operation, no missing node, no unreadable line. */
  readonly isComplete: boolean;
}

export interface History extends HistoryFacts {
  /** The database rows of each purchase, by opId. */
  readonly rows: ReadonlyMap<string, readonly HistoryOrder[]>;
  /** The operations that sold units: answered "sold" and not lost by a failover, or proven by a row. */
  readonly soldOps: ReadonlySet<Operation>;
}

/** One unit of work on a history whose result is memoized. */
export type HistoryStage = (history: History) => unknown;

const NO_ROWS: readonly HistoryOrder[] = [];

/** `rows` and `soldOps` are computed on first use. */
export function makeHistory(facts: HistoryFacts): History {
  let rows: History["rows"] | undefined;
  let soldOps: History["soldOps"] | undefined;
  return {
    ...facts,
    get rows() {
      rows ??= rowsByOp(facts);
      return rows;
    },
    get soldOps() {
      soldOps ??= soldOpsOf(facts, this.rows);
      return soldOps;
    },
  };
}

export function rowsOf(history: History, op: Operation): readonly HistoryOrder[] {
  return history.rows.get(op.opId) ?? NO_ROWS;
}

/** The place of each purchase in the order in which the database inserted the orders. Empty without the rows. */
export const orderPlaces = memoize((history: History): ReadonlyMap<string, number> => {
  return new Map((history.end?.orders ?? []).map(({ opId }, index) => [opId, index]));
});

export const operationsById = memoize((history: History): ReadonlyMap<string, Operation> => {
  return new Map(history.ops.map((op) => [op.opId, op]));
});

/** True if the purchase is known to have changed the stock. */
export function hasAcceptedWrite(history: History, op: Operation): boolean {
  return op.writeAccepted === true || (op.writeNs !== undefined && rowsOf(history, op).length > 0);
}

/** Identifies calls that repeat one purchase; null if the operation has no idempotency key. */
export function repeatKeyOf(op: Operation): string | null {
  return op.idempotencyKey === undefined ? null : `${op.buyerId}\u0000${op.idempotencyKey}`;
}

function rowsByOp({ ops, end }: HistoryFacts): Map<string, HistoryOrder[]> {
  const rows = new Map<string, HistoryOrder[]>();
  const orders = end?.orders ?? [];
  const opOfOrder = orders.some((row) => row.opId === "") ? opsByOrder(ops) : null;
  for (const row of orders) {
    // A row without an opId belongs to the purchase whose answer named the order.
    const opId = row.opId === "" ? opOfOrder?.get(row.orderId) : row.opId;
    if (opId === undefined) continue;
    const known = rows.get(opId);
    if (known) known.push(row);
    else rows.set(opId, [row]);
  }
  return rows;
}

function opsByOrder(ops: readonly Operation[]): Map<string, string> {
  return new Map(ops.flatMap((op) => (op.orderId === undefined ? [] : [[op.orderId, op.opId] as const])));
}

/** Of calls with one idempotency key only one sells: a repeat gets the first call's answer. */
function soldOpsOf(facts: HistoryFacts, rows: ReadonlyMap<string, readonly HistoryOrder[]>): Set<Operation> {
  const { ops, end } = facts;
  const soldOps = new Set<Operation>();
  const served = new Set<string>();
  for (const op of ops) {
    if (!rows.has(op.opId)) continue;
    soldOps.add(op);
    const key = repeatKeyOf(op);
    if (key !== null) served.add(key);
  }
  for (const op of ops) {
    if (op.outcome !== "sold" || soldOps.has(op)) continue;
    const key = repeatKeyOf(op);
    if (key !== null && served.has(key)) continue;
    if (end !== null && precedesFailover(facts, op)) continue;
    soldOps.add(op);
    if (key !== null) served.add(key);
  }
  return soldOps;
}
