import { LockError } from "../locks/errors";
import { resourceOf, type StockTarget } from "./types";

/** The error of a strategy whose target has no row. */
export function missingRowError(strategyId: string, target: StockTarget): LockError {
  const resource = resourceOf(target);
  const message = `the row of ${resource} does not exist; create it or choose another target`;
  return new LockError({ code: "config_invalid", strategyId, resource, message, isDefinite: true });
}
