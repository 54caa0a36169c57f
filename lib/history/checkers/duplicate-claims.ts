import { type CheckResult, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import type { History } from "../history";
import type { HistoryOrder } from "../types";

/** Units a buyer has beyond `limitPerBuyer`, by the database's rows. O(n). */
export function checkDuplicateClaims({ run, end }: History): CheckResult {
  const limit = run?.limitPerBuyer ?? null;
  if (limit === null || !end) return NOTHING_FOUND;
  const buyers = new Map<string, Claims>();
  for (const order of end.orders) {
    const { buyerId, quantity } = order;
    const known = buyers.get(buyerId);
    if (known) {
      known.orders.push(order);
      known.units += quantity;
    } else buyers.set(buyerId, { buyerId, orders: [order], units: quantity });
  }
  const greedy = [...buyers.values()].filter(({ units }) => units > limit);
  const { findings } = firstFindings(greedy, {
    timeOf: () => undefined,
    toFinding: ({ buyerId, orders, units }) => {
      const opIds = orders.map((order) => order.opId).filter((opId) => opId !== "");
      const sentence = `${buyerId} has ${units} where ${limit} ${limit === 1 ? "is" : "are"} allowed.`;
      return { kind: "duplicateClaims", opIds, atNs: null, sentence };
    },
  });
  return { count: greedy.reduce((sum, { units }) => sum + units - limit, 0), findings };
}

/** What one buyer has. */
interface Claims {
  readonly buyerId: string;
  readonly orders: HistoryOrder[];
  units: number;
}
