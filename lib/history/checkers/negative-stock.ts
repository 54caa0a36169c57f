import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import { type History, hasAcceptedWrite } from "../history";
import { clockReading, type Operation } from "../operation";

/** How far below zero the stock ever was: at the end, or by a write that a later one may have covered up. O(n). */
export function checkNegativeStock(history: History): CheckResult {
  const { final = 0, counter } = history.end ?? {};
  let lowest = Math.min(0, final, counter ?? 0);
  const findings: Finding[] = [];
  if (lowest < 0) {
    findings.push({ kind: "negativeStock", opIds: [], atNs: null, sentence: `The stock ended at ${lowest}.` });
  }
  for (const op of history.ops) {
    if (op.writtenValue === undefined || op.writtenValue >= 0 || !hasAcceptedWrite(history, op)) continue;
    lowest = Math.min(lowest, op.writtenValue);
    findings.push(wroteNegative(op));
  }
  return lowest < 0 ? { count: -lowest, findings } : NOTHING_FOUND;
}

function wroteNegative(op: Operation): Finding {
  return {
    kind: "negativeStock",
    opIds: [op.opId],
    atNs: clockReading(op, op.committedNs ?? op.writeNs),
    sentence: `${op.node} read ${op.readValue ?? "nothing"} and wrote ${op.writtenValue}.`,
  };
}
