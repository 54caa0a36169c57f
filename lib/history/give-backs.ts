import { DemandPrefixSum } from "./demand-prefix-sum";
import type { History } from "./history";
import { memoize } from "./memoize";
import type { Operation } from "./operation";

/**
 * Units that a strategy may have taken from its counter and given back: the purchase reached its write but has no
 * order. A give-back raises the counter, so a rise that give-backs can explain is not a violation. A lock holder's
 * write cannot be given back: it commits in the order's transaction or rolls back.
 */
export class GiveBacks {
  /** True if lines are missing that may be give-backs. No line of a lock's run is a give-back. */
  readonly mayBeMissing: boolean;
  private readonly units: DemandPrefixSum;
  private readonly isOneHost: boolean;

  constructor(history: History) {
    this.units = new DemandPrefixSum(history.ops.filter((op) => mayGiveBack(history, op)));
    this.mayBeMissing = !history.isComplete && history.ops.every(({ grantedNs }) => grantedNs === undefined);
    const [first] = history.ops;
    this.isOneHost = history.ops.every((op) => op.host === first?.host);
  }

  /**
   * Units that may have been given back before this purchase was answered; all of them if the hosts' clocks do not
   * compare.
   */
  unitsBefore(op: Operation): number {
    return this.isOneHost ? this.units.at(op.answeredNs) : this.units.total;
  }
}

export const giveBacksOf = memoize((history: History) => new GiveBacks(history));

export function mayGiveBack(history: History, op: Operation): boolean {
  if (op.writeNs === undefined || op.grantedNs !== undefined || history.soldOps.has(op)) return false;
  // A recorded value shows that the counter gave its units, even though the row then rejected the write.
  return op.writeAccepted !== false || (op.writtenValue !== undefined && op.outcome !== "contended");
}
