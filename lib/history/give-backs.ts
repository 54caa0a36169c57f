import { DemandPrefixSum } from "./demand-prefix-sum";
import type { History } from "./history";
import { memoize } from "./memoize";
import type { Operation } from "./operation";

/**
 * Units that may have been taken off a counter for a moment and put back: a purchase that reached its write and ended
 * without an order. While such units may be on their way back the stock may rise, and a rise proves nothing. A lock
 * holder's write is no such case: it is the order's own transaction, and comes with the order or not at all.
 */
export class GiveBacks {
  private readonly units: DemandPrefixSum;
  private readonly isOneHost: boolean;

  constructor(history: History) {
    this.units = new DemandPrefixSum(history.ops.filter((op) => mayGiveBack(history, op)));
    const [first] = history.ops;
    this.isOneHost = history.ops.every((op) => op.host === first?.host);
  }

  /** Units that may have come back by the time this purchase was answered. Between hosts before and after are not known. */
  unitsBefore(op: Operation): number {
    return this.isOneHost ? this.units.at(op.answeredNs) : this.units.total;
  }
}

export const giveBacksOf = memoize((history: History) => new GiveBacks(history));

export function mayGiveBack(history: History, op: Operation): boolean {
  if (op.writeNs === undefined || op.grantedNs !== undefined || history.soldOps.has(op)) return false;
  // Refused by the row, and yet it knows what it left on the counter: that it had got its units from.
  return op.writeAccepted !== false || (op.writtenValue !== undefined && op.outcome !== "contended");
}
