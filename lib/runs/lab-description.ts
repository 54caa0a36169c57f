import { serverKind } from "../../servers/all-servers";
import { familyLabel } from "../../servers/families";
import { faultsById } from "../faults/all-faults";
import { expectedResult } from "../faults/fault-effects";
import { FAULT_IDS, type FaultId } from "../faults/ids";
import type { TopologyId } from "../faults/topologies/ids";
import type { StrategyTraits } from "../locks/types";
import { env } from "../services/current-env";
import { missingService } from "../services/missing-service";
import { type ServiceState, serviceStates } from "../services/service-state";
import { stockStrategies } from "../stock/stock-strategies";
import { activeStrategies } from "./active-strategy";
import { type BuyerLimit, buyerLimit } from "./engines/buyer-limit";
import { createEngines } from "./engines/choose";
import type { EngineAvailability, EngineId } from "./engines/types";
import { LabError } from "./lab-error";
import type { NodeAddress } from "./node-client";

export interface DescribedStrategy extends StrategyTraits {
  readonly familyLabel: string;
  /** The servers that it needs besides PostgreSQL. */
  readonly needsLabels: readonly string[];
  readonly available: boolean;
  /** Why it is not available and what makes it available; null if it is available. */
  readonly unavailableReason: string | null;
}

/** A fault that a run can inject. */
export interface DescribedFault {
  readonly id: FaultId;
  readonly does: string;
  /** The topology that it acts on: only a run that is opened with the fault can have it. Null: a running sale can. */
  readonly topology: TopologyId | null;
  /** Why it does not apply, by strategy id. Strategies that it applies to are absent. */
  readonly reasonsAgainst: Readonly<Record<string, string>>;
}

export interface LabDescription {
  /** The strategy of purchases outside runs; `mixed` if the nodes differ or a node does not answer. */
  readonly active: string;
  readonly strategies: readonly DescribedStrategy[];
  readonly services: readonly ServiceState[];
  readonly engines: readonly DescribedEngine[];
  readonly nodes: readonly NodeAddress[];
  readonly faults: readonly DescribedFault[];
  readonly adminTokenRequired: boolean;
}

/** A load generator, and how many buyers it can start together on this machine. */
export interface DescribedEngine extends EngineAvailability, BuyerLimit {
  readonly id: EngineId;
}

/** Availability by configuration only: does not check whether the servers answer. */
export function describeStrategy(id: string): DescribedStrategy {
  const entry = stockStrategies.get(id);
  if (!entry) {
    const valid = [...stockStrategies.keys()];
    throw new LabError("unknown_strategy", `strategy: "${id}" must be one of ${valid.join(", ")}.`, {
      field: "strategy",
      valid,
    });
  }
  const reasons = entry.traits.needs.flatMap((service) => missingService(service) ?? []);
  const { family, needs } = entry.traits;
  const needed = needs.filter((server) => server !== "postgres").map(serverKind);
  const needsLabels = needed.map(({ label, needsLabel = label }) => needsLabel);
  const labels = { familyLabel: familyLabel(family), needsLabels };
  return { ...entry.traits, ...labels, available: reasons.length === 0, unavailableReason: reasons.join(" ") || null };
}

/** What this lab offers: strategies with availability, servers, engines, nodes, faults. */
export async function describeStrategies(): Promise<LabDescription> {
  const [active, services, engines] = await Promise.all([activeStrategies(), serviceStates(), describeEngines()]);
  return {
    active: active.id ?? "mixed",
    strategies: [...stockStrategies.keys()].map((id) => withServers(describeStrategy(id), services)),
    services,
    engines,
    nodes: storeNodes(),
    faults: describeFaults(),
    adminTokenRequired: env().LAB_ADMIN_TOKEN !== undefined,
  };
}

function describeFaults(): DescribedFault[] {
  const strategies = [...stockStrategies.values()];
  return FAULT_IDS.map((id) => {
    const unavailable = faultsById[id].whyUnavailable?.() ?? null;
    const reasons = strategies.flatMap(({ traits }) => {
      const { expected, reason } = expectedResult(id, traits);
      const against = expected === "not applicable" ? reason : unavailable;
      return against === null ? [] : [[traits.id, against] as const];
    });
    const { does, topology = null } = faultsById[id];
    return { id, does, topology, reasonsAgainst: Object.fromEntries(reasons) };
  });
}

/** A strategy is not available if one of its servers is configured but does not answer. */
function withServers(strategy: DescribedStrategy, services: readonly ServiceState[]): DescribedStrategy {
  if (!strategy.available) return strategy;
  const missing = services.filter(({ id, present, checking }) => !present && !checking && strategy.needs.includes(id));
  if (missing.length === 0) return strategy;
  return { ...strategy, available: false, unavailableReason: missing.map(({ reason }) => reason).join(" ") };
}

/** All store nodes. A process without STORE_NODES is the only one. */
export function storeNodes(): readonly NodeAddress[] {
  const { STORE_NODES, STORE_NODE, PORT } = env();
  return STORE_NODES.length > 0 ? STORE_NODES : [{ name: STORE_NODE, url: `http://127.0.0.1:${PORT}` }];
}

async function describeEngines(): Promise<LabDescription["engines"]> {
  const engines = createEngines({ k6Binary: env().K6_BINARY });
  return Promise.all(
    (["k6", "builtin"] as const).map(async (id) => {
      const { available, version, reason } = await engines[id].detect();
      return { id, available, version, reason, ...buyerLimit(id) };
    }),
  );
}
