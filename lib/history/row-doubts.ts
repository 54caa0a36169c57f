import { type CheckResult, FIELD_MAY_BE_MISSING, type Finding, LINE_MAY_BE_MISSING, withDoubts } from "./finding";
import { firstFindings } from "./first-findings";
import { type History, operationsById } from "./history";
import { memoize } from "./memoize";
import type { Operation } from "./operation";
import { answerTime, type PurchaseGroup } from "./purchase-groups";
import type { HistoryOrder } from "./types";

/** Purchases answered "sold" whose rows are wrong: which of them are proven, and which a missing line or field could explain. */

interface WrongRows {
  readonly group: PurchaseGroup;
}

/** The call that was answered "sold". */
export function soldCallOf({ first, ops }: PurchaseGroup): Operation {
  return ops.find((op) => op.outcome === "sold") ?? first;
}

/** Counts those that are proven, and reports the others as doubts. */
export function provenRows<T extends WrongRows>(
  history: History,
  found: readonly T[],
  toFinding: (wrong: T) => Finding,
): CheckResult {
  const options = { timeOf: ({ group }: T) => answerTime(soldCallOf(group)), toFinding };
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

const ordersByBuyer = memoize(({ orders }: End) => {
  const buyers = new Map<string, HistoryOrder[]>();
  for (const order of orders) {
    const known = buyers.get(order.buyerId);
    if (known) known.push(order);
    else buyers.set(order.buyerId, [order]);
  }
  return buyers;
});
