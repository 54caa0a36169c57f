import { plural } from "../../services/number-text";
import { type CheckResult, NOTHING_FOUND } from "../finding";
import { type History, hasAcceptedWrite, rowsOf } from "../history";
import { clockReading } from "../operation";
import { balanceOf } from "./conservation";

/** Counts units that left the stock without an order: max(0, (initial - final) - orders). O(n). */
export function checkUndersold(history: History): CheckResult {
  const balance = balanceOf(history);
  const count = balance ? Math.max(0, balance.taken - balance.ordered) : 0;
  if (!balance || count === 0) return NOTHING_FOUND;
  const suspects = history.ops.filter((op) => hasAcceptedWrite(history, op) && rowsOf(history, op).length === 0);
  const [first] = suspects;
  const example = first
    ? ` ${first.node} wrote ${first.writtenValue ?? "the stock"} for ${first.buyerId}, who has no order.`
    : "";
  return {
    count,
    findings: [
      {
        kind: "undersold",
        opIds: suspects.slice(0, count).map((op) => op.opId),
        atNs: first ? clockReading(first, first.committedNs) : null,
        sentence: `${plural(count, "unit")} left the stock without an order.${example}`,
      },
    ],
  };
}
