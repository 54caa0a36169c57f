import { type CheckResult, NOTHING_FOUND, plural } from "../finding";
import { type History, operationsById } from "../history";
import { clockReading } from "../operation";
import { balanceOf } from "./conservation";

/** More units in orders than there were: max(0, orders - initial). O(n). */
export function checkOversold(history: History): CheckResult {
  const balance = balanceOf(history);
  const count = balance ? Math.max(0, balance.ordered - balance.initial) : 0;
  if (!balance || count === 0) return NOTHING_FOUND;
  const { opId, atNs, buyerId } = firstBeyond(history, balance.initial);
  const sentence = `${plural(balance.ordered, "unit")} of ${balance.initial} were sold; ${buyerId} bought the first that cannot be delivered.`;
  return { count, findings: [{ kind: "oversold", opIds: opId === "" ? [] : [opId], atNs, sentence }] };
}

/** The first order, in the database's order, that there was no unit left for. */
function firstBeyond(history: History, initial: number): { opId: string; buyerId: string; atNs: string | null } {
  let ordered = 0;
  for (const { opId, buyerId, quantity } of history.end?.orders ?? []) {
    ordered += quantity;
    if (ordered <= initial) continue;
    const op = operationsById(history).get(opId);
    return { opId, buyerId, atNs: op ? clockReading(op, op.committedNs ?? op.answeredNs) : null };
  }
  throw new Error("the orders do not exceed the stock");
}
