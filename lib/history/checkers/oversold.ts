import { plural } from "../../services/number-text";
import { type CheckResult, NOTHING_FOUND } from "../finding";
import { type History, operationsById } from "../history";
import { clockReading } from "../operation";
import { balanceOf } from "./conservation";

/** Counts the units in orders beyond the initial stock: max(0, orders - initial). O(n). */
export function checkOversold(history: History): CheckResult {
  const balance = balanceOf(history);
  const count = balance ? Math.max(0, balance.ordered - balance.initial) : 0;
  if (!balance || count === 0) return NOTHING_FOUND;
  const { opId, atNs, buyerId } = firstOversoldOrder(history, balance.initial);
  const ordered = plural(balance.ordered, "unit");
  const sentence = `Buyers ordered ${ordered} from a stock of ${balance.initial}; ${buyerId} placed the first order that cannot be delivered.`;
  return { count, findings: [{ kind: "oversold", opIds: opId === "" ? [] : [opId], atNs, sentence }] };
}

/** In the database's order. */
function firstOversoldOrder(history: History, initial: number): { opId: string; buyerId: string; atNs: string | null } {
  let ordered = 0;
  for (const { opId, buyerId, quantity } of history.end?.orders ?? []) {
    ordered += quantity;
    if (ordered <= initial) continue;
    const op = operationsById(history).get(opId);
    return { opId, buyerId, atNs: op ? clockReading(op, op.committedNs ?? op.answeredNs) : null };
  }
  throw new Error("the orders do not exceed the stock");
}
