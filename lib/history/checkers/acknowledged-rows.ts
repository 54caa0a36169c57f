import { actorName } from "../describe";
import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import type { History } from "../history";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";
import { atAnswer, type PurchaseGroup, purchaseGroups } from "../purchase-groups";

/** Each purchase that was answered "sold" has exactly one row, and it is the row it was told of. O(n). */
export function checkAcknowledgedRows(history: History): CheckResult {
  if (!history.end) return NOTHING_FOUND;
  const { end } = history;
  const found: Broken[] = [];
  for (const group of purchaseGroups(history)) {
    const problem = group.answer === "sold" ? problemOf(group, end) : null;
    if (problem) found.push({ group, problem });
  }
  return firstFindings(found, { timeOf: ({ group }) => atAnswer(toldIn(group)), toFinding: findingOf });
}

interface Broken {
  readonly group: PurchaseGroup;
  readonly problem: string;
}

type End = NonNullable<History["end"]>;

/** Made only when an answer names an order that its purchase does not have. */
const ordersById = memoize(({ orders }: End) => new Map(orders.map((order) => [order.orderId, order])));

function problemOf({ ops, rows }: PurchaseGroup, end: End): string | null {
  const told = ops.length === 1 ? ops : ops.filter((op) => op.outcome === "sold");
  const [row] = rows;
  if (!row) return missing(told[0], end);
  if (rows.length > 1) return `has ${rows.length} orders (${rows.map((each) => each.orderId).join(", ")})`;
  const misled = told.find((op) => op.orderId !== undefined && op.orderId !== row.orderId);
  if (misled) return `was told of order ${misled.orderId}, and the database has ${row.orderId}`;
  const [op] = told;
  if (op && row.buyerId !== op.buyerId) return `has an order in the name of ${row.buyerId}`;
  if (op && row.quantity !== op.quantity) return `asked for ${op.quantity}, and the order is for ${row.quantity}`;
  return null;
}

function missing(op: Operation | undefined, end: End): string {
  const told = op?.orderId === undefined ? undefined : ordersById(end).get(op.orderId);
  if (!told) return "has no order";
  return `given order ${told.orderId}, which another purchase made for ${told.buyerId}`;
}

/** The call of the purchase that was answered "sold". */
function toldIn({ first, ops }: PurchaseGroup): Operation {
  return ops.find((op) => op.outcome === "sold") ?? first;
}

function findingOf({ group, problem }: Broken): Finding {
  const op = toldIn(group);
  return {
    kind: "acknowledgedRows",
    opIds: group.ops.map(({ opId }) => opId),
    atNs: clockReading(op, op.answeredNs),
    sentence: `${actorName(op)} was told "sold" and ${problem}.`,
  };
}
