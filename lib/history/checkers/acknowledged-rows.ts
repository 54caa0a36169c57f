import { plural } from "../../services/number-text";
import {
  type CheckResult,
  FIELD_MAY_BE_MISSING,
  type Finding,
  LINE_MAY_BE_MISSING,
  NOTHING_FOUND,
  withDoubts,
} from "../finding";
import { firstFindings } from "../first-findings";
import { type History, operationsById } from "../history";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";
import { answerTime, type PurchaseGroup, purchaseGroups } from "../purchase-groups";
import type { HistoryOrder } from "../types";

/** Every purchase answered "sold" must have exactly one row: the order that the answer named. O(n). */
export function checkAcknowledgedRows(history: History): CheckResult {
  if (!history.end) return NOTHING_FOUND;
  const { end } = history;
  const found: WrongRows[] = [];
  for (const group of purchaseGroups(history)) {
    const problem = group.answer === "sold" ? problemOf(group, end) : null;
    if (problem) found.push({ group, problem });
  }
  const options = { timeOf: ({ group }: WrongRows) => answerTime(soldCallOf(group)), toFinding: findingOf };
  const unproven = new Set(found.filter(({ group }) => mayRepeatMissingCall(history, group)));
  const lacking = new Set(found.filter((wrong) => !unproven.has(wrong) && mayLackField(history, wrong.group)));
  const proven = found.filter((wrong) => !unproven.has(wrong) && !lacking.has(wrong));
  const known = withDoubts(firstFindings(proven, options), firstFindings([...lacking], options), FIELD_MAY_BE_MISSING);
  return withDoubts(known, firstFindings([...unproven], options), LINE_MAY_BE_MISSING);
}

/** True if the order may belong to the first call of this purchase and that call's line is missing. */
function mayRepeatMissingCall(history: History, group: PurchaseGroup): boolean {
  if (history.isComplete || !history.end || group.rows.length > 0 || group.first.idempotencyKey === undefined) {
    return false;
  }
  const { orderId } = soldCallOf(group);
  return (ordersByBuyer(history.end).get(group.first.buyerId) ?? []).some(
    (row) => (orderId === undefined || row.orderId === orderId) && !operationsById(history).has(row.opId),
  );
}

interface WrongRows {
  readonly group: PurchaseGroup;
  readonly problem: string;
}

/**
 * True if the order may belong to this purchase and one field is missing: the idempotency key of one of two calls, or the
 * order of an answer whose row does not name its purchase.
 */
function mayLackField(history: History, group: PurchaseGroup): boolean {
  if (!history.end || group.rows.length > 0) return false;
  const { orderId, idempotencyKey } = soldCallOf(group);
  return (ordersByBuyer(history.end).get(group.first.buyerId) ?? []).some((row) => {
    if (orderId === undefined && row.opId === "") return true;
    const owner = operationsById(history).get(row.opId);
    if (!owner || (orderId !== undefined && row.orderId !== orderId)) return false;
    return (owner.idempotencyKey === undefined) !== (idempotencyKey === undefined);
  });
}

type End = NonNullable<History["end"]>;

const ordersById = memoize(({ orders }: End) => new Map(orders.map((order) => [order.orderId, order])));

const ordersByBuyer = memoize(({ orders }: End) => {
  const buyers = new Map<string, HistoryOrder[]>();
  for (const order of orders) {
    const known = buyers.get(order.buyerId);
    if (known) known.push(order);
    else buyers.set(order.buyerId, [order]);
  }
  return buyers;
});

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

function soldCallOf({ first, ops }: PurchaseGroup): Operation {
  return ops.find((op) => op.outcome === "sold") ?? first;
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
