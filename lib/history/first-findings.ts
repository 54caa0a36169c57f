import { type CheckResult, type Finding, MAX_FINDINGS_PER_KIND } from "./finding";
import type { Operation } from "./operation";

/** How a checker words what it found. */
export interface Telling<T> {
  /** Whose clock, and when on it; undefined where no one moment can be named. */
  readonly at: (found: T) => { readonly op: Operation; readonly ns: number | undefined } | undefined;
  readonly tell: (found: T) => Finding;
}

/** Counts all, and puts only the earliest into words: a run without a lock may find something in every operation. */
export function firstFindings<T>(found: readonly T[], { at, tell }: Telling<T>): CheckResult {
  const kept: Dated<T>[] = [];
  for (const item of found) {
    const moment = at(item);
    const { op, ns } = moment ?? {};
    const dated = { item, originNs: op?.clock.originNs ?? 0n, ns: ns ?? Infinity };
    const last = kept.at(-1);
    if (kept.length === MAX_FINDINGS_PER_KIND && last && !isBefore(dated, last)) continue;
    insert(kept, dated);
    if (kept.length > MAX_FINDINGS_PER_KIND) kept.pop();
  }
  return { count: found.length, findings: kept.map(({ item }) => tell(item)) };
}

/** Infinity: it has no moment, and comes last. */
interface Dated<T> {
  readonly item: T;
  readonly originNs: bigint;
  readonly ns: number;
}

/** After those of the same moment, so that equal ones stay in the order in which they were found. */
function insert<T>(kept: Dated<T>[], dated: Dated<T>): void {
  let place = kept.length;
  for (let before = kept[place - 1]; before && isBefore(dated, before); before = kept[place - 1]) place -= 1;
  kept.splice(place, 0, dated);
}

function isBefore<T>(a: Dated<T>, b: Dated<T>): boolean {
  if (a.originNs === b.originNs || a.ns === Infinity || b.ns === Infinity) return a.ns < b.ns;
  return a.originNs + BigInt(a.ns) < b.originNs + BigInt(b.ns);
}
