import { type CheckResult, NOTHING_FOUND, plural } from "../finding";
import type { History } from "../history";

/** A strategy's counter must end where the row ends: counts the units between the two. O(1). */
export function checkCounterDrift({ end }: History): CheckResult {
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
