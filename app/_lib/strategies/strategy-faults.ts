import { faultsById } from "@/lib/faults/all-faults";
import { type ExpectedResult, expectedInMatrix } from "@/lib/faults/fault-effects";
import { FAULT_IDS, type FaultId } from "@/lib/faults/ids";
import type { StrategyTraits } from "@/lib/locks/types";
import { type ConfigDefaults, DEFAULT_CONFIG, queryOf, type SaleConfig } from "../run-config";
import { type Catalogue, preferredEngine } from "../strategy-catalogue";

/** A fault as the page of one strategy shows it. */
export interface StrategyFault extends ExpectedResult {
  readonly id: FaultId;
  readonly does: string;
  /** Address of the Lab with a sale that shows the effect; null if the fault does not apply, or the lab cannot inject it. */
  readonly tryHref: string | null;
}

type LabOffer = Pick<Catalogue, "nodes" | "engines" | "faults">;

/** Every fault, in the order of every list. Server-side only: the faults open connections. */
export function faultsOf(traits: StrategyTraits, lab: LabOffer): StrategyFault[] {
  const defaults = { nodes: lab.nodes.length, engine: preferredEngine(lab.engines) };
  return FAULT_IDS.map((id) => {
    const result = expectedInMatrix(id, traits);
    const isOffered = lab.faults.some((fault) => fault.id === id && fault.reasonsAgainst[traits.id] === undefined);
    const tryHref = result.expected === "not applicable" || !isOffered ? null : tryHrefOf(id, traits, defaults);
    return { ...result, id, does: faultsById[id].does, tryHref };
  });
}

/** The Lab page with the sale of the fault matrix. */
function tryHrefOf(id: FaultId, traits: StrategyTraits, { nodes, engine }: ConfigDefaults): string {
  const { stock, vus, rate, durationMs, holdMs, ttlMs, waitTimeoutMs, faultAtMs, faultMs } =
    faultsById[id].matrixSale(traits);
  const arrival: Partial<SaleConfig> =
    vus === undefined
      ? { arrival: "rate", rate: rate ?? DEFAULT_CONFIG.rate, durationMs: durationMs ?? DEFAULT_CONFIG.durationMs }
      : { arrival: "together", buyers: vus };
  const fault = { id, atMs: faultAtMs, ...(faultMs === undefined ? {} : { durationMs: faultMs }) };
  const config = {
    ...DEFAULT_CONFIG,
    ...arrival,
    strategy: traits.id,
    stock,
    holdMs,
    ttlMs,
    waitTimeoutMs,
    nodes,
    engine,
  };
  return `/?${queryOf({ ...config, faults: [fault] })}`;
}
