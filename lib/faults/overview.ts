import type { StrategyTraits } from "../locks/types";
import { stockStrategies } from "../stock/stock-strategies";
import { faultsById } from "./all-faults";
import type { ExpectedEffect } from "./fault";
import { FAULT_IDS, type FaultId } from "./ids";

export interface FaultOverview {
  readonly id: FaultId;
  readonly does: string;
  readonly proof: string;
  /** Strategies that are safe without it, by what becomes of them. */
  readonly strategies: Readonly<Record<ExpectedEffect, readonly string[]>>;
  readonly notApplicable: readonly { readonly reason: string; readonly strategies: readonly string[] }[];
}

/** A sale on three nodes, with a lease as long as the lab's own and the fault as long as it takes by default. */
const ORDINARY = { ttlMs: 5_000, nodes: 3, fencing: true };

/** What a fault does to a strategy, or why it cannot be done to it. */
export function effectOf(id: FaultId, traits: StrategyTraits): { fate: ExpectedEffect } | { reason: string } {
  const fault = faultsById[id];
  const subject = { ...ORDINARY, traits };
  const reason = fault.reasonAgainst(subject);
  if (reason !== null) return { reason };
  return { fate: fault.expectedEffectOf(subject, fault.defaultDurationMs(subject) ?? 0) };
}

/** Every fault beside every strategy: what docs, command line and pages say of them. */
export function faultOverview(): FaultOverview[] {
  return FAULT_IDS.map(overviewOf);
}

function overviewOf(id: FaultId): FaultOverview {
  const strategies: Record<ExpectedEffect, string[]> = { breaks: [], stops: [], holds: [] };
  const against = new Map<string, string[]>();
  for (const { traits } of stockStrategies.values()) {
    const effect = effectOf(id, traits);
    if ("reason" in effect) against.set(effect.reason, [...(against.get(effect.reason) ?? []), traits.id]);
    else if (traits.expected.threeNodes === "safe") strategies[effect.fate].push(traits.id);
  }
  const notApplicable = [...against].map(([reason, ids]) => ({ reason, strategies: ids }));
  const { does, proof } = faultsById[id];
  return { id, does, proof, strategies, notApplicable };
}
