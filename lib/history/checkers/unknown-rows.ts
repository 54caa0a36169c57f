import { type CheckResult, NOTHING_FOUND } from "../finding";
import type { History } from "../history";
import { clockReading } from "../operation";
import { purchaseGroups } from "../purchase-groups";
import { actorOf } from "../words";

/** A purchase whose outcome was not known to its buyer has no row or one, never two. O(n). */
export function checkUnknownRows(history: History): CheckResult {
  if (!history.end) return NOTHING_FOUND;
  const findings = purchaseGroups(history).flatMap(({ ops, rows, answer }) => {
    const [op] = ops;
    if (answer !== "unknown" || rows.length < 2 || !op) return [];
    const sentence = `${actorOf(op)} never learned the outcome and has ${rows.length} orders.`;
    const atNs = clockReading(op, op.answeredNs);
    return [{ kind: "unknownRows" as const, opIds: ops.map((each) => each.opId), atNs, sentence }];
  });
  return { count: findings.length, findings };
}
