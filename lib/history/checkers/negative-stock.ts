import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import { type History, hasAcceptedWrite } from "../history";
import { clockReading, type Operation } from "../operation";

/** How far below zero the stock ever was: at the end, or by a write that a later one may have covered up. O(n). */
export function checkNegativeStock(history: History): CheckResult {
  const { final = 0, counter } = history.end ?? {};
  const atEnd = Math.min(0, final, counter ?? 0);
  const writes = history.ops.filter((op) => (op.writtenValue ?? 0) < 0 && hasAcceptedWrite(history, op));
  const lowest = writes.reduce((low, op) => Math.min(low, op.writtenValue ?? 0), atEnd);
  if (lowest === 0) return NOTHING_FOUND;
  const { findings } = firstFindings(writes, { timeOf: (op) => ({ op, ns: writtenNs(op) }), toFinding: wroteNegative });
  return { count: -lowest, findings: [...(atEnd < 0 ? [endedAt(atEnd)] : []), ...findings] };
}

function writtenNs(op: Operation): number | undefined {
  return op.committedNs ?? op.writeNs;
}

function endedAt(atEnd: number): Finding {
  return { kind: "negativeStock", opIds: [], atNs: null, sentence: `The stock ended at ${atEnd}.` };
}

function wroteNegative(op: Operation): Finding {
  return {
    kind: "negativeStock",
    opIds: [op.opId],
    atNs: clockReading(op, writtenNs(op)),
    sentence: `${op.node} read ${op.readValue ?? "nothing"} and wrote ${op.writtenValue}.`,
  };
}
