import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import type { History } from "../history";
import { clockReading } from "../operation";
import { answerTime, type PurchaseGroup, purchaseGroups } from "../purchase-groups";

/** A purchase with an unknown outcome must have at most one row. O(n). */
export function checkUnknownRows(history: History): CheckResult {
  if (!history.end) return NOTHING_FOUND;
  const found = purchaseGroups(history).filter(({ rows, answer }) => answer === "unknown" && rows.length > 1);
  return firstFindings(found, { timeOf: ({ first }) => answerTime(first), toFinding: findingOf });
}

function findingOf({ first, ops, rows }: PurchaseGroup): Finding {
  const sentence = `${first.buyerId} got no definite answer from ${first.node}, and the database has ${rows.length} orders.`;
  const atNs = clockReading(first, first.answeredNs);
  return { kind: "unknownRows", opIds: ops.map(({ opId }) => opId), atNs, sentence };
}
