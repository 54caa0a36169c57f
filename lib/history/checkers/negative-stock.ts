import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import { type History, hasAcceptedWrite } from "../history";
import { clockReading, type Operation } from "../operation";

/** Counts how far the stock fell below zero: at the end, or by a write that a later write may have hidden. O(n). */
export function checkNegativeStock(history: History): CheckResult {
  const { final = 0, counter } = history.end ?? {};
  const atEnd = Math.min(0, final, counter ?? 0);
  const writes = history.ops.filter((op) => (op.writtenValue ?? 0) < 0 && hasAcceptedWrite(history, op));
  const lowest = writes.reduce((low, op) => Math.min(low, op.writtenValue ?? 0), atEnd);
  if (lowest === 0) return NOTHING_FOUND;
  const { findings } = firstFindings<Operation | null>([...writes, ...(atEnd < 0 ? [null] : [])], {
    timeOf: (op) => (op === null ? undefined : { op, ns: writtenNs(op) }),
    toFinding: (op) => (op === null ? negativeEndFinding(atEnd) : negativeWriteFinding(op)),
  });
  return { count: -lowest, findings };
}

function writtenNs(op: Operation): number | undefined {
  return op.committedNs ?? op.writeNs;
}

function negativeEndFinding(atEnd: number): Finding {
  return { kind: "negativeStock", opIds: [], atNs: null, sentence: `The stock was ${atEnd} at the end of the run.` };
}

function negativeWriteFinding(op: Operation): Finding {
  const { node, readValue, writtenValue } = op;
  return {
    kind: "negativeStock",
    opIds: [op.opId],
    atNs: clockReading(op, writtenNs(op)),
    sentence:
      readValue === undefined
        ? `${node} wrote ${writtenValue}.`
        : `${node} read ${readValue} and wrote ${writtenValue}.`,
  };
}
