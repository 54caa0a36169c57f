import type { StrategyTraits } from "../locks/types";
import { stockStrategies } from "../stock/stock-strategies";
import { faultsById } from "./all-faults";
import type { ExpectedEffect, FaultContext } from "./fault";
import { FAULT_IDS, type FaultId } from "./ids";

/** A fault and what it does to each strategy. */
export interface FaultEffects {
  readonly id: FaultId;
  readonly does: string;
  readonly proof: string;
  /** What an unsafe strategy does under it. Absent: it lets two holders in. */
  readonly harm?: string;
  /** The strategies that are safe without the fault, by the effect that it has on them. */
  readonly strategies: Readonly<Record<ExpectedEffect, readonly string[]>>;
  readonly notApplicable: readonly { readonly reason: string; readonly strategies: readonly string[] }[];
}

/** A sale on three nodes with the lab's default lease. */
const DEFAULT_RUN = { ttlMs: 5_000, nodes: 3, fencing: true };

/** What to expect of a strategy under a fault, and why. */
export interface ExpectedResult {
  readonly expected: ExpectedEffect | "not applicable";
  /** A sentence; for `not applicable`, a clause. */
  readonly reason: string;
}

/** The effect of a fault with its default duration on a strategy. */
export function expectedResult(id: FaultId, traits: StrategyTraits): ExpectedResult {
  const run = { ...DEFAULT_RUN, traits };
  return resultOf(id, run, faultsById[id].defaultDurationMs(run));
}

/** What the fault matrix expects. A strategy that is unsafe without a fault has no cells: a fault can show nothing more. */
export function expectedInMatrix(id: FaultId, traits: StrategyTraits): ExpectedResult {
  if (traits.expected.threeNodes === "unsafe") {
    return { expected: "not applicable", reason: "it is unsafe on three nodes without a fault" };
  }
  const notShown = faultsById[id].whyNotInMatrix?.(traits) ?? null;
  if (notShown !== null) return { expected: "not applicable", reason: notShown };
  const { ttlMs, faultMs } = faultsById[id].matrixSale(traits);
  const run = { ...DEFAULT_RUN, ttlMs, traits };
  return resultOf(id, run, faultMs ?? faultsById[id].defaultDurationMs(run));
}

function resultOf(id: FaultId, run: FaultContext, durationMs: number | null): ExpectedResult {
  const fault = faultsById[id];
  const against = fault.whyNotApplicable(run);
  if (against !== null) return { expected: "not applicable", reason: against };
  const { effect, reason } = fault.expectationOf(run, durationMs ?? 0);
  return { expected: effect, reason };
}

/** The effect of every fault on every strategy, for the docs, the command line and the pages. */
export function faultEffects(): FaultEffects[] {
  return FAULT_IDS.map(effectsOf);
}

function effectsOf(id: FaultId): FaultEffects {
  const strategies: Record<ExpectedEffect, string[]> = { unsafe: [], blocked: [], safe: [] };
  const idsByReason = new Map<string, string[]>();
  for (const { traits } of stockStrategies.values()) {
    const { expected, reason } = expectedResult(id, traits);
    if (expected === "not applicable") idsByReason.set(reason, [...(idsByReason.get(reason) ?? []), traits.id]);
    else if (traits.expected.threeNodes === "safe") strategies[expected].push(traits.id);
  }
  const notApplicable = [...idsByReason].map(([reason, ids]) => ({ reason, strategies: ids }));
  const { does, proof, harm } = faultsById[id];
  return { id, does, proof, ...(harm === undefined ? {} : { harm }), strategies, notApplicable };
}
