import type { HistoryFacts } from "./history";
import type { Operation } from "./operation";

/**
 * True if the purchase was answered before a replica of the database was promoted. If the replica did not have its order, the
 * promotion lost it, and gave its units back to the stock.
 */
export function precedesFailover({ faults }: Pick<HistoryFacts, "faults">, { clock, answeredNs }: Operation): boolean {
  if (answeredNs === undefined) return false;
  return faults.some(({ promotedReplica, toNs }) => promotedReplica && clock.originNs + BigInt(answeredNs) <= toNs);
}
