import { type CheckResult, NOTHING_FOUND } from "../finding";
import { type History, rowsOf } from "../history";

/** Rows that no purchase asked for. Only a complete history can prove that. O(n). */
export function checkStrayRows(history: History): CheckResult {
  if (!history.end || !history.isComplete) return NOTHING_FOUND;
  const claimed = new Set(history.ops.flatMap((op) => rowsOf(history, op)));
  const strays = history.end.orders.filter((row) => !claimed.has(row));
  const findings = strays.map(({ orderId, opId, buyerId }) => {
    const who = opId === "" ? "names no purchase" : `names ${opId}, which is not among the purchases`;
    return {
      kind: "strayRows" as const,
      opIds: opId === "" ? [] : [opId],
      atNs: null,
      sentence: `Order ${orderId} of ${buyerId} ${who}.`,
    };
  });
  return { count: findings.length, findings };
}
