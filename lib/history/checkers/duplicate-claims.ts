import { plural } from "../../services/number-text";
import { type CheckResult, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import type { History } from "../history";
import type { HistoryOrder } from "../types";

/** Counts the units that a buyer ordered beyond `limitPerBuyer`, from the database rows. O(n). */
export function checkDuplicateClaims({ run, end }: History): CheckResult {
  const limit = run?.limitPerBuyer ?? null;
  if (limit === null || !end) return NOTHING_FOUND;
  const buyers = new Map<string, BuyerOrders>();
  for (const order of end.orders) {
    const { buyerId, quantity } = order;
    const known = buyers.get(buyerId);
    if (known) {
      known.orders.push(order);
      known.units += quantity;
    } else buyers.set(buyerId, { buyerId, orders: [order], units: quantity });
  }
  const overLimit = [...buyers.values()].filter(({ units }) => units > limit);
  const { findings } = firstFindings(overLimit, {
    timeOf: () => undefined,
    toFinding: ({ buyerId, orders, units }) => {
      const opIds = orders.map((order) => order.opId).filter((opId) => opId !== "");
      const sentence = `${buyerId} has ${plural(units, "unit")}; the limit is ${limit}.`;
      return { kind: "duplicateClaims", opIds, atNs: null, sentence };
    },
  });
  return { count: overLimit.reduce((sum, { units }) => sum + units - limit, 0), findings };
}

interface BuyerOrders {
  readonly buyerId: string;
  readonly orders: HistoryOrder[];
  units: number;
}
