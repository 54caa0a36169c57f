import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import type { History } from "../history";
import type { HistoryOrder } from "../types";

/** Units a buyer has beyond `limitPerBuyer`, by the database's rows. O(n). */
export function checkDuplicateClaims({ run, end }: History): CheckResult {
  const limit = run?.limitPerBuyer ?? null;
  if (limit === null || !end) return NOTHING_FOUND;
  const byBuyer = new Map<string, HistoryOrder[]>();
  for (const order of end.orders) {
    const known = byBuyer.get(order.buyerId);
    if (known) known.push(order);
    else byBuyer.set(order.buyerId, [order]);
  }
  let count = 0;
  const findings: Finding[] = [];
  for (const [buyerId, orders] of byBuyer) {
    const units = orders.reduce((sum, order) => sum + order.quantity, 0);
    if (units <= limit) continue;
    count += units - limit;
    const opIds = orders.map((order) => order.opId).filter((opId) => opId !== "");
    const sentence = `${buyerId} has ${units} where ${limit} ${limit === 1 ? "is" : "are"} allowed.`;
    findings.push({ kind: "duplicateClaims", opIds, atNs: null, sentence });
  }
  return { count, findings };
}
