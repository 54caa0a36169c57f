import { actorName } from "../describe";
import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import type { History } from "../history";
import { clockReading } from "../operation";
import { atAnswer, type PurchaseGroup, purchaseGroups } from "../purchase-groups";

/** A purchase whose outcome was not known to its buyer has no row or one, never two. O(n). */
export function checkUnknownRows(history: History): CheckResult {
  if (!history.end) return NOTHING_FOUND;
  const found = purchaseGroups(history).filter(({ rows, answer }) => answer === "unknown" && rows.length > 1);
  return firstFindings(found, { timeOf: ({ first }) => atAnswer(first), toFinding: findingOf });
}

function findingOf({ first, ops, rows }: PurchaseGroup): Finding {
  const sentence = `${actorName(first)} never learned the outcome and has ${rows.length} orders.`;
  const atNs = clockReading(first, first.answeredNs);
  return { kind: "unknownRows", opIds: ops.map(({ opId }) => opId), atNs, sentence };
}
