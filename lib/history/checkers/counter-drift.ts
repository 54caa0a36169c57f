import { plural } from "../../services/number-text";
import { type CheckResult, type Finding, LINE_MAY_BE_MISSING, NOTHING_FOUND, withDoubts } from "../finding";
import { firstFindings } from "../first-findings";
import { giveBacksOf } from "../give-backs";
import type { History } from "../history";
import type { LostUpdate } from "../late-writes";
import { clockReading } from "../operation";
import { isCounted, unexplainedRepeatsIn } from "./lost-updates";

/**
 * A strategy's counter must end where the row ends, and must not sell from one value twice: a server that lost the
 * counter, or a write that overwrote another, makes it do so. Counts the units between counter and row, or the repeated
 * values if they are more. O(n log n).
 */
export function checkCounterDrift(history: History): CheckResult {
  const apart = differenceAtEnd(history);
  const repeated = repeatedValues(history);
  const findings = [...apart.findings, ...repeated.findings];
  if (repeated.count > 0 && giveBacksOf(history).mayBeMissing) return withDoubts(apart, repeated, LINE_MAY_BE_MISSING);
  return { count: Math.max(apart.count, repeated.count), findings };
}

function differenceAtEnd({ end }: History): CheckResult {
  const counter = end?.counter ?? null;
  if (!end || counter === null || counter === end.final) return NOTHING_FOUND;
  const count = Math.abs(counter - end.final);
  const harm =
    counter < end.final
      ? `${plural(count, "unit")} cannot be bought`
      : `${plural(count, "unit")} on the counter cannot be delivered`;
  const sentence = `The counter ended at ${counter} and the row at ${end.final}: ${harm}.`;
  return { count, findings: [{ kind: "counterDrift", opIds: [], atNs: null, sentence }] };
}

function repeatedValues(history: History): CheckResult {
  if (!isCounted(history)) return NOTHING_FOUND;
  return firstFindings(unexplainedRepeatsIn(history), {
    timeOf: ({ second }) => ({ op: second, ns: second.readNs ?? second.answeredNs ?? second.invokedNs }),
    toFinding: repeatFinding,
  });
}

function repeatFinding({ first, second }: LostUpdate): Finding {
  return {
    kind: "counterDrift",
    opIds: [first.opId, second.opId],
    atNs: clockReading(second, second.readNs ?? second.answeredNs ?? second.invokedNs),
    sentence: `The counter was at ${second.readValue} for two sales, of ${first.node} and of ${second.node}: it was reset, or one write overwrote another.`,
  };
}
