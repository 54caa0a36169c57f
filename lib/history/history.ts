import { memoize } from "./memoize";
import type { Fault, Operation } from "./operation";
import type { HistoryEndLine, HistoryOrder, HistoryRunLine } from "./types";

/** What is known of a run: the checkers' one argument. */
export interface HistoryFacts {
  readonly run: Pick<HistoryRunLine, "initial" | "limitPerBuyer" | "fencing" | "servedWithinMs"> | null;
  readonly ops: readonly Operation[];
  readonly faults: readonly Fault[];
  readonly end: Pick<HistoryEndLine, "final" | "counter" | "orders"> | null;
  /** Every purchase of the run is in `ops`: none dropped, no node silent, no line unreadable. */
  readonly isComplete: boolean;
}

export interface History extends HistoryFacts {
  /** The database's rows of each purchase, by opId. */
  readonly rows: ReadonlyMap<string, readonly HistoryOrder[]>;
  /** The purchases that took units for good: answered "sold", or known by their row. */
  readonly soldOps: ReadonlySet<Operation>;
}

const NO_ROWS: readonly HistoryOrder[] = [];

/** Rows and soldOps are worked out when they are first asked for. */
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
      soldOps ??= soldOpsOf(facts.ops, this.rows);
      return soldOps;
    },
  };
}

export function rowsOf(history: History, op: Operation): readonly HistoryOrder[] {
  return history.rows.get(op.opId) ?? NO_ROWS;
}

export const operationsById = memoize((history: History): ReadonlyMap<string, Operation> => {
  return new Map(history.ops.map((op) => [op.opId, op]));
});

/** The purchase's change of the stock is known to have been made. */
export function hasAcceptedWrite(history: History, op: Operation): boolean {
  return op.writeAccepted === true || (op.writeNs !== undefined && rowsOf(history, op).length > 0);
}

/** Buyer and key of a purchase that may be repeated; null where every call is a purchase of its own. */
export function repeatKeyOf(op: Operation): string | null {
  return op.idempotencyKey === undefined ? null : `${op.buyerId}\u0000${op.idempotencyKey}`;
}

function rowsByOp({ ops, end }: HistoryFacts): Map<string, HistoryOrder[]> {
  const rows = new Map<string, HistoryOrder[]>();
  const orders = end?.orders ?? [];
  const opOfOrder = orders.some((row) => row.opId === "") ? opsByOrder(ops) : null;
  for (const row of orders) {
    // A row that does not name its purchase is found by the answer that names the row.
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

/** A repeated call is answered with the first one's answer and takes nothing of its own. */
function soldOpsOf(ops: readonly Operation[], rows: ReadonlyMap<string, readonly HistoryOrder[]>): Set<Operation> {
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
    soldOps.add(op);
    if (key !== null) served.add(key);
  }
  return soldOps;
}
