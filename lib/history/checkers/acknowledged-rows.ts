import { plural } from "../../services/number-text";
import { precedesFailover } from "../failover";
import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import type { History } from "../history";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";
import { type PurchaseGroup, purchaseGroups } from "../purchase-groups";
import { provenRows, soldCallOf } from "../row-doubts";

/**
 * Every purchase answered "sold" must have exactly one row: the order that the answer named. A row that a failover lost is a
 * violation of another kind (`failoverLosses`). O(n).
 */
export function checkAcknowledgedRows(history: History): CheckResult {
  if (!history.end) return NOTHING_FOUND;
  const { end } = history;
  const found: WrongRows[] = [];
  for (const group of purchaseGroups(history)) {
    const isLost = group.rows.length === 0 && precedesFailover(history, soldCallOf(group));
    const problem = group.answer === "sold" && !isLost ? problemOf(group, end) : null;
    if (problem) found.push({ group, problem });
  }
  return provenRows(history, found, findingOf);
}

interface WrongRows {
  readonly group: PurchaseGroup;
  readonly problem: string;
}

type End = NonNullable<History["end"]>;

const ordersById = memoize(({ orders }: End) => new Map(orders.map((order) => [order.orderId, order])));

function problemOf({ ops, rows }: PurchaseGroup, end: End): string | null {
  const soldCalls = ops.length === 1 ? ops : ops.filter((op) => op.outcome === "sold");
  const [row] = rows;
  if (!row) return missingRow(soldCalls[0], end);
  if (rows.length > 1)
    return `the database has ${rows.length} orders: ${rows.map(({ orderId }) => orderId).join(", ")}`;
  const wrongAnswer = soldCalls.find((op) => op.orderId !== undefined && op.orderId !== row.orderId);
  if (wrongAnswer) return `the answer named order ${wrongAnswer.orderId} and the database has order ${row.orderId}`;
  const [op] = soldCalls;
  if (op && row.buyerId !== op.buyerId) return `the order is in the name of ${row.buyerId}`;
  if (op && row.quantity !== op.quantity)
    return `the purchase was for ${plural(op.quantity, "unit")} and the order is for ${row.quantity}`;
  return null;
}

function missingRow(op: Operation | undefined, end: End): string {
  const named = op?.orderId === undefined ? undefined : ordersById(end).get(op.orderId);
  if (!named) return "the database has no order";
  return `order ${named.orderId} belongs to another purchase, by ${named.buyerId}`;
}

function findingOf({ group, problem }: WrongRows): Finding {
  const op = soldCallOf(group);
  return {
    kind: "acknowledgedRows",
    opIds: group.ops.map(({ opId }) => opId),
    atNs: clockReading(op, op.answeredNs),
    sentence: `${op.node} answered "sold" to ${op.buyerId}, but ${problem}.`,
  };
}
