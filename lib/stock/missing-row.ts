import { LockError } from "../locks/errors";
import { resourceOf, type StockTarget } from "./types";

/** What a strategy throws where there is no row to sell from. */
export function missingRowError(strategyId: string, target: StockTarget): LockError {
  const message = "the row to sell from does not exist";
  return new LockError({ code: "config_invalid", strategyId, resource: resourceOf(target), message, isDefinite: true });
}
