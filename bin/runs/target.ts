import { InvalidArgumentError } from "commander";
import { targetOf } from "../../lib/node/postgres-for-locks";
import type { StockTarget } from "../../lib/stock/types";

/** `product:1` or `coupon:1`. @throws InvalidArgumentError */
export function stockTarget(text: string): StockTarget {
  const target = targetOf(text);
  if (target) return target;
  throw new InvalidArgumentError("It must be product:<id> or coupon:<id>, as in product:1.");
}
