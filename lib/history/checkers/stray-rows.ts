import { type CheckResult, FIELD_MAY_BE_MISSING, type Finding, NOTHING_FOUND, withDoubts } from "../finding";
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
  const options = { timeOf: () => undefined, toFinding: findingOf };
  const unnamed = new Set(history.ops.filter(({ orderId }) => orderId === undefined).map(({ buyerId }) => buyerId));
  const isUnproven = (row: HistoryOrder) => row.opId === "" && unnamed.has(row.buyerId);
  const proven = firstFindings(
    strays.filter((row) => !isUnproven(row)),
    options,
  );
  return withDoubts(proven, firstFindings(strays.filter(isUnproven), options), FIELD_MAY_BE_MISSING);
}

function findingOf({ orderId, opId, buyerId }: HistoryOrder): Finding {
  const why = opId === "" ? "names no purchase" : `names purchase ${opId}, which is not in the history`;
  const sentence = `Order ${orderId} of ${buyerId} ${why}.`;
  return { kind: "strayRows", opIds: opId === "" ? [] : [opId], atNs: null, sentence };
}
