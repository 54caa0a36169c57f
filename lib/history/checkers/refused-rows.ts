import { type CheckResult, type Finding, LINE_MAY_BE_MISSING, NOTHING_FOUND, withDoubts } from "../finding";
import { firstFindings } from "../first-findings";
import type { History } from "../history";
import { clockReading } from "../operation";
import { answerTime, type PurchaseGroup, purchaseGroups } from "../purchase-groups";

/** A purchase that was refused (sold out, contended, rejected, a definite error) must have no row. O(n). */
export function checkRefusedRows(history: History): CheckResult {
  if (!history.end) return NOTHING_FOUND;
  const found = purchaseGroups(history).filter(({ rows, answer }) => answer === "refused" && rows.length > 0);
  const options = { timeOf: ({ first }: PurchaseGroup) => answerTime(first), toFinding: findingOf };
  if (history.isComplete) return firstFindings(found, options);
  // A repeat whose line is missing may have been answered "sold".
  const isKeyed = ({ first }: PurchaseGroup) => first.idempotencyKey !== undefined;
  const proven = found.filter((group) => !isKeyed(group));
  return withDoubts(firstFindings(proven, options), firstFindings(found.filter(isKeyed), options), LINE_MAY_BE_MISSING);
}

function findingOf({ first, ops, rows }: PurchaseGroup): Finding {
  const { node, outcome, buyerId } = first;
  const sentence = `${node} answered "${outcome}" to ${buyerId}, but the database has order ${rows[0]?.orderId}.`;
  const atNs = clockReading(first, first.answeredNs);
  return { kind: "refusedRows", opIds: ops.map(({ opId }) => opId), atNs, sentence };
}
