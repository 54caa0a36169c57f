import type { Operation } from "./operation";

/** Prefix sums of requested units by request time: looks up in O(log n) how many units were requested up to a time. */
export class DemandPrefixSum {
  readonly total: number;
  private readonly times: readonly number[];
  private readonly sums: readonly number[];

  constructor(ops: readonly Operation[]) {
    const sorted = [...ops].sort((a, b) => a.invokedNs - b.invokedNs);
    this.times = sorted.map((op) => op.invokedNs);
    let sum = 0;
    this.sums = sorted.map((op) => {
      sum += op.quantity;
      return sum;
    });
    this.total = sum;
  }

  /** Units requested at or before `ns`; `undefined` means all. */
  at(ns: number | undefined): number {
    return ns === undefined ? this.total : (this.sums[this.countUpTo(ns) - 1] ?? 0);
  }

  private countUpTo(ns: number): number {
    let low = 0;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.times[middle] ?? 0) <= ns) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
