import type { StrategyTraits } from "../locks/types";
import { stockCatalogue } from "../stock/registry";
import { FAULT_IDS, type FaultId, faultCatalogue } from "./registry";

/** What becomes of a strategy's promise under a fault. `safe`: nothing, whatever it is worth without the fault. */
export interface Fate {
  readonly fate: "breaks" | "safe" | "not-applicable";
  /** Why not; null where it can be done. */
  readonly reason: string | null;
}

export interface FaultOverview {
  readonly id: FaultId;
  readonly does: string;
  readonly proof: string;
  /** Strategies that are safe without it, and not with it. */
  readonly breaks: readonly string[];
  readonly safe: readonly string[];
  readonly notApplicable: readonly { readonly reason: string; readonly strategies: readonly string[] }[];
}

/** A sale on three nodes, with a lease as long as the lab's own and the fault as long as it takes by default. */
const ORDINARY = { ttlMs: 5_000, nodes: 3, fencing: true };

export function fateOf(id: FaultId, traits: StrategyTraits): Fate {
  const fault = faultCatalogue[id];
  const subject = { ...ORDINARY, traits };
  const reason = fault.reasonAgainst(subject);
  if (reason !== null) return { fate: "not-applicable", reason };
  const breaks = fault.breaks(subject, fault.defaultDurationMs(subject) ?? 0);
  return { fate: breaks ? "breaks" : "safe", reason };
}

/** Every fault beside every strategy: what docs, command line and pages say of them. */
export function faultOverview(): FaultOverview[] {
  const strategies = [...stockCatalogue.values()].map(({ traits }) => traits);
  return FAULT_IDS.map((id) => {
    const fates = strategies.map((traits) => ({ ...fateOf(id, traits), id: traits.id, traits }));
    const those = (wanted: Fate["fate"]) => fates.filter(({ fate }) => fate === wanted);
    const isSafe = ({ traits }: { traits: StrategyTraits }) => traits.expected.threeNodes === "safe";
    const reasons = [...new Set(those("not-applicable").map(({ reason }) => reason ?? ""))];
    const { does, proof } = faultCatalogue[id];
    return {
      id,
      does,
      proof,
      breaks: those("breaks").map((each) => each.id),
      safe: those("safe")
        .filter(isSafe)
        .map((each) => each.id),
      notApplicable: reasons.map((reason) => ({
        reason,
        strategies: fates.filter((each) => each.reason === reason).map((each) => each.id),
      })),
    };
  });
}
