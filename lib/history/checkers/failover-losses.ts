import { precedesFailover } from "../failover";
import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import type { History } from "../history";
import { clockReading } from "../operation";
import { type PurchaseGroup, purchaseGroups } from "../purchase-groups";
import { provenRows, soldCallOf } from "../row-doubts";

/**
 * Counts purchases that were acknowledged, then lost by a failover: answered "sold" before a replica of the database was promoted,
 * and without a row in the database after it. O(n).
 */
export function checkFailoverLosses(history: History): CheckResult {
  if (!history.end) return NOTHING_FOUND;
  const lost = purchaseGroups(history).filter(
    (group) => group.answer === "sold" && group.rows.length === 0 && precedesFailover(history, soldCallOf(group)),
  );
  const wrong = lost.map((group) => ({ group }));
  return provenRows(history, wrong, ({ group }) => findingOf(group));
}

function findingOf(group: PurchaseGroup): Finding {
  const op = soldCallOf(group);
  const order = op.orderId === undefined ? "an order" : `order ${op.orderId}`;
  return {
    kind: "failoverLosses",
    opIds: group.ops.map(({ opId }) => opId),
    atNs: clockReading(op, op.answeredNs),
    sentence: `${op.node} acknowledged ${order} to ${op.buyerId}, and then a failover lost it: the promoted replica did not have it.`,
  };
}
