import { type History, repeatKeyOf, rowsOf } from "./history";
import { memoize } from "./memoize";
import type { Operation } from "./operation";
import type { HistoryOrder } from "./types";

/** One purchase of a buyer: a single call, or all calls with the same idempotency key. */
export interface PurchaseGroup {
  readonly first: Operation;
  readonly ops: readonly Operation[];
  readonly rows: readonly HistoryOrder[];
  /** The best answer to any of its calls: "sold" before "unknown" before "refused". */
  readonly answer: "sold" | "unknown" | "refused";
}

export const purchaseGroups = memoize((history: History): readonly PurchaseGroup[] => {
  const keyed = new Map<string, Operation[]>();
  const groups: { readonly first: Operation; readonly ops: Operation[] }[] = [];
  for (const op of history.ops) {
    const key = repeatKeyOf(op);
    const known = key === null ? undefined : keyed.get(key);
    if (known) {
      known.push(op);
      continue;
    }
    const ops = [op];
    groups.push({ first: op, ops });
    if (key !== null) keyed.set(key, ops);
  }
  return groups.map(({ first, ops }) => ({ first, ops, rows: rowsOfAll(history, ops), answer: answerOf(ops) }));
});

export function answerTime(op: Operation): { readonly op: Operation; readonly ns: number | undefined } {
  return { op, ns: op.answeredNs };
}

function rowsOfAll(history: History, ops: readonly Operation[]): readonly HistoryOrder[] {
  const [first] = ops;
  return first && ops.length === 1 ? rowsOf(history, first) : ops.flatMap((op) => rowsOf(history, op));
}

function answerOf(ops: readonly Operation[]): PurchaseGroup["answer"] {
  let answer: PurchaseGroup["answer"] = "refused";
  for (const { outcome } of ops) {
    if (outcome === "sold") return "sold";
    if (outcome === "unknown") answer = "unknown";
  }
  return answer;
}
