import { type CheckResult, NOTHING_FOUND } from "../finding";
import type { History } from "../history";
import { clockReading } from "../operation";
import { purchaseGroups } from "../purchase-groups";
import { actorOf } from "../words";

/** A purchase that was refused (sold out, contended, rejected, a definite error) has no row. O(n). */
export function checkRefusedRows(history: History): CheckResult {
  if (!history.end) return NOTHING_FOUND;
  const findings = purchaseGroups(history).flatMap(({ ops, rows, answer }) => {
    const [op] = ops;
    const [row] = rows;
    if (answer !== "refused" || !row || !op) return [];
    const sentence = `${actorOf(op)} was answered "${op.outcome}" and has order ${row.orderId}.`;
    const atNs = clockReading(op, op.answeredNs);
    return [{ kind: "refusedRows" as const, opIds: ops.map((each) => each.opId), atNs, sentence }];
  });
  return { count: findings.length, findings };
}
