import type { StrategyTraits } from "../locks/types";
import { stockStrategies } from "../stock/stock-strategies";
import { faultsById } from "./all-faults";
import type { ExpectedEffect } from "./fault";
import { FAULT_IDS, type FaultId } from "./ids";

/** A fault and what it does to each strategy. */
export interface FaultEffects {
  readonly id: FaultId;
  readonly does: string;
  readonly proof: string;
  /** The strategies that are safe without the fault, by the effect that it has on them. */
  readonly strategies: Readonly<Record<ExpectedEffect, readonly string[]>>;
  readonly notApplicable: readonly { readonly reason: string; readonly strategies: readonly string[] }[];
}

/** A sale on three nodes with the lab's default lease. */
const DEFAULT_RUN = { ttlMs: 5_000, nodes: 3, fencing: true };

/** The effect of a fault with its default duration on a strategy, or why the fault does not apply to it. */
export function effectOf(id: FaultId, traits: StrategyTraits): { effect: ExpectedEffect } | { reason: string } {
  const fault = faultsById[id];
  const run = { ...DEFAULT_RUN, traits };
  const reason = fault.whyNotApplicable(run);
  if (reason !== null) return { reason };
  return { effect: fault.expectedEffectOf(run, fault.defaultDurationMs(run) ?? 0) };
}

/** The effect of every fault on every strategy, for the docs, the command line and the pages. */
export function faultEffects(): FaultEffects[] {
  return FAULT_IDS.map(effectsOf);
}

function effectsOf(id: FaultId): FaultEffects {
  const strategies: Record<ExpectedEffect, string[]> = { unsafe: [], blocked: [], safe: [] };
  const idsByReason = new Map<string, string[]>();
  for (const { traits } of stockStrategies.values()) {
    const result = effectOf(id, traits);
    if ("reason" in result) {
      idsByReason.set(result.reason, [...(idsByReason.get(result.reason) ?? []), traits.id]);
    } else if (traits.expected.threeNodes === "safe") strategies[result.effect].push(traits.id);
  }
  const notApplicable = [...idsByReason].map(([reason, ids]) => ({ reason, strategies: ids }));
  const { does, proof } = faultsById[id];
  return { id, does, proof, strategies, notApplicable };
}
