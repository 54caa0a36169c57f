import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import { type History, rowsOf } from "../history";
import type { HistoryOrder } from "../types";

/** Finds rows that belong to no purchase. Only a complete history can prove that. O(n). */
export function checkStrayRows(history: History): CheckResult {
  if (!history.end || !history.isComplete) return NOTHING_FOUND;
  const claimedCount = history.ops.reduce((count, op) => count + rowsOf(history, op).length, 0);
  if (claimedCount === history.end.orders.length) return NOTHING_FOUND;
  const claimed = new Set(history.ops.flatMap((op) => rowsOf(history, op)));
  const strays = history.end.orders.filter((row) => !claimed.has(row));
  return firstFindings(strays, { timeOf: () => undefined, toFinding: findingOf });
}

function findingOf({ orderId, opId, buyerId }: HistoryOrder): Finding {
  const why = opId === "" ? "names no purchase" : `names purchase ${opId}, which is not in the history`;
  const sentence = `Order ${orderId} of ${buyerId} ${why}.`;
  return { kind: "strayRows", opIds: opId === "" ? [] : [opId], atNs: null, sentence };
}
