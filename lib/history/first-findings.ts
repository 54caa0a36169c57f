import { type CheckResult, type Finding, MAX_FINDINGS_PER_KIND } from "./finding";
import type { Operation } from "./operation";

export interface FirstFindingsOptions<T> {
  /** The time of an item: the operation names the clock. Undefined if the item has no single time. */
  readonly timeOf: (item: T) => { readonly op: Operation; readonly ns: number | undefined } | undefined;
  readonly toFinding: (item: T) => Finding;
}

/**
 * Counts all items but builds findings only for the earliest: a run without a lock can break a rule in every operation.
 */
export function firstFindings<T>(items: readonly T[], { timeOf, toFinding }: FirstFindingsOptions<T>): CheckResult {
  const kept: Dated<T>[] = [];
  for (const item of items) {
    const { op, ns } = timeOf(item) ?? {};
    const dated = { item, originNs: op?.clock.originNs ?? 0n, ns: ns ?? Infinity };
    const last = kept.at(-1);
    if (kept.length === MAX_FINDINGS_PER_KIND && last && !isBefore(dated, last)) continue;
    insert(kept, dated);
    if (kept.length > MAX_FINDINGS_PER_KIND) kept.pop();
  }
  return { count: items.length, findings: kept.map(({ item }) => toFinding(item)) };
}

interface Dated<T> {
  readonly item: T;
  readonly originNs: bigint;
  /** Infinity if the item has no time: it sorts last. */
  readonly ns: number;
}

/** Inserts after items of the same time, so that the sort is stable. */
function insert<T>(kept: Dated<T>[], dated: Dated<T>): void {
  let index = kept.length;
  for (let before = kept[index - 1]; before && isBefore(dated, before); before = kept[index - 1]) index -= 1;
  kept.splice(index, 0, dated);
}

function isBefore<T>(a: Dated<T>, b: Dated<T>): boolean {
  if (a.originNs === b.originNs || a.ns === Infinity || b.ns === Infinity) return a.ns < b.ns;
  return a.originNs + BigInt(a.ns) < b.originNs + BigInt(b.ns);
}
