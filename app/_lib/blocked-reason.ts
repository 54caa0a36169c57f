import { faultProblem, faultValue } from "./fault-choice";
import { formatCount } from "./format";
import { type SaleConfig, SETTINGS } from "./run-config";
import type { Catalogue, CatalogueStrategy } from "./strategy-catalogue";

/** Why the sale cannot run with these settings, in one line; null when it can. */
export function blockedReason(
  config: SaleConfig,
  problems: Readonly<Partial<Record<keyof SaleConfig, string>>>,
  catalogue: Pick<Catalogue, "strategies" | "engines" | "faults">,
): string | null {
  const strategy = catalogue.strategies.find((one) => one.id === config.strategy);
  if (strategy === undefined) return `This lab has no strategy "${config.strategy}". Choose one from the list.`;
  if (!strategy.available) return unavailable(strategy);
  const engine = catalogue.engines.find((one) => one.id === config.engine);
  if (engine !== undefined && !engine.available) {
    return engine.reason ?? `${engine.id} is unavailable. Choose another load engine.`;
  }
  if (engine !== undefined && config.arrival === "together" && config.buyers > engine.maxBuyers) {
    const limit = formatCount(engine.maxBuyers);
    return `${engine.id} can start at most ${limit} buyers together on this machine, because of ${engine.limitedBy}.`;
  }
  if (faultProblem(config, catalogue.faults) !== null) {
    return `${faultValue(config.faults)} is not applicable to ${config.strategy}. Choose another fault, or none.`;
  }
  const wrong = (Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]).find((setting) => problems[setting] !== undefined);
  return wrong === undefined ? null : `${SETTINGS[wrong].label} must be ${problems[wrong]}.`;
}

function unavailable(strategy: CatalogueStrategy): string {
  return strategy.unavailableReason ?? `${strategy.id} needs ${strategy.needs.join(" and ")}.`;
}
