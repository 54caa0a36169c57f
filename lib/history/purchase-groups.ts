import { type History, repeatKeyOf, rowsOf } from "./history";
import { oncePer } from "./once-per";
import type { Operation } from "./operation";
import type { HistoryOrder } from "./types";

/** One purchase as its buyer means it: a call, or all calls with the same idempotency key. */
export interface PurchaseGroup {
  readonly ops: readonly Operation[];
  readonly rows: readonly HistoryOrder[];
  /** The best that any of its calls was answered. */
  readonly answer: "sold" | "unknown" | "refused";
}

export const purchaseGroups = oncePer((history: History): readonly PurchaseGroup[] => {
  const keyed = new Map<string, Operation[]>();
  const groups: Operation[][] = [];
  for (const op of history.ops) {
    const key = repeatKeyOf(op);
    const known = key === null ? undefined : keyed.get(key);
    if (known) {
      known.push(op);
      continue;
    }
    const ops = [op];
    groups.push(ops);
    if (key !== null) keyed.set(key, ops);
  }
  return groups.map((ops) => ({ ops, rows: rowsOfAll(history, ops), answer: answerOf(ops) }));
});

function rowsOfAll(history: History, ops: readonly Operation[]): readonly HistoryOrder[] {
  const [first] = ops;
  return first && ops.length === 1 ? rowsOf(history, first) : ops.flatMap((op) => rowsOf(history, op));
}

function answerOf(ops: readonly Operation[]): PurchaseGroup["answer"] {
  if (ops.some((op) => op.outcome === "sold")) return "sold";
  return ops.some((op) => op.outcome === "unknown") ? "unknown" : "refused";
}
