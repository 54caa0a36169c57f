import { holdsOf } from "../holds";
import { byHost } from "../intervals";
import { memoize } from "../memoize";
import type { Operation } from "../operation";
import { quantile, sorted } from "../quantile";

export interface HandOff {
  /** The number of releases after which a purchase that was already waiting got the next grant. */
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number | null;
}

/**
 * The time from a release to the next grant, if the next holder was already waiting at the release: otherwise the lock
 * was idle. Overlapping holds have no hand-off. O(n log n).
 */
export const handOffOf = memoize((ops: readonly Operation[]): HandOff => {
  const delaysMs: number[] = [];
  for (const onHost of byHost(ops).values()) {
    let freedNs: number | null = null;
    for (const hold of holdsOf(onHost)) {
      const { waitNs } = hold.op;
      if (freedNs !== null && waitNs !== undefined && waitNs <= freedNs && freedNs <= hold.fromNs) {
        delaysMs.push((hold.fromNs - freedNs) / 1e6);
      }
      if (freedNs === null || hold.toNs > freedNs) freedNs = hold.toNs;
    }
  }
  const ascending = sorted(delaysMs);
  return {
    count: delaysMs.length,
    p50Ms: quantile(ascending, 0.5),
    p99Ms: quantile(ascending, 0.99),
    maxMs: quantile(ascending, 1),
  };
});
