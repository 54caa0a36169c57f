import type { ServerId } from "../../servers/all-servers";
import { faultsById } from "../faults/all-faults";
import type { Fault } from "../faults/fault";
import { DEFAULT_AT_MS, type FaultRequest } from "../faults/request";
import type { TopologyId } from "../faults/topologies/ids";
import { traitsOf } from "../stock/stock-strategies";
import { LabError } from "./lab-error";
import type { RunRequest } from "./run-request";

/** A requested fault with every default filled in. */
export interface PlannedFault {
  readonly fault: Fault;
  readonly atMs: number;
  /** 0 for an instant fault. */
  readonly durationMs: number;
  /** The store node to act on, for faults of one node. */
  readonly nodeName: string;
  /** The store nodes to act on, for faults of the network. */
  readonly nodeNames: readonly string[];
  /** The servers that it needs proxies to. */
  readonly servers: readonly ServerId[];
  /** The topology that it acts on; null: the lab's servers. */
  readonly topology: TopologyId | null;
}

/** The settings of a run that its faults depend on. */
export type FaultedRun = Pick<RunRequest, "strategy" | "ttlMs" | "fencing" | "faults">;

/**
 * @param nodeNames the store nodes that serve the run
 * @throws LabError `fault_not_applicable` with the reason, `invalid_fault` with the field
 */
export function planFaults(request: FaultedRun, nodeNames: readonly string[]): PlannedFault[] {
  const { faults = [] } = request;
  const options = { ...request, nodeNames };
  const planned = faults.map((requested, index) => planFault(requested, { ...options, field: `faults.${index}.` }));
  const topologies = new Set(planned.flatMap(({ topology }) => topology ?? []));
  if (topologies.size < 2) return planned;
  throw invalidFault("faults", `a run can have one topology, and these need ${[...topologies].join(" and ")}.`);
}

interface PlanOptions extends Omit<FaultedRun, "faults"> {
  readonly nodeNames: readonly string[];
  /** What errors write before the name of a field. */
  readonly field: string;
}

/** @throws LabError `fault_not_applicable` with the reason, `invalid_fault` with the field */
export function planFault(
  requested: FaultRequest,
  { strategy, ttlMs, fencing = true, nodeNames, field }: PlanOptions,
): PlannedFault {
  const run = { traits: traitsOf(strategy), ttlMs, nodes: nodeNames.length, fencing };
  const fault = faultsById[requested.id];
  const reason = fault.whyNotApplicable(run) ?? fault.whyUnavailable?.() ?? null;
  if (reason !== null) {
    const details = { field: `${field}id`, fault: fault.id, strategy };
    throw new LabError(
      "fault_not_applicable",
      `The fault ${fault.id} does not apply to ${strategy}: ${reason}.`,
      details,
    );
  }
  const durationMs = fault.defaultDurationMs(run);
  if (durationMs === null && requested.durationMs !== undefined) {
    throw invalidFault(`${field}durationMs`, `${fault.id} is instant, so it takes no duration.`);
  }
  const [first = ""] = nodeNames;
  const nodeName = requested.node ?? first;
  if (!nodeNames.includes(nodeName)) {
    throw invalidFault(`${field}node`, `"${nodeName}" must be one of ${nodeNames.join(", ")}.`);
  }
  const reachable = fault.proxiedServers?.(run) ?? [];
  const servers = reachable.filter((server) => (requested.server ?? server) === server);
  if (requested.server !== undefined && servers.length === 0) {
    const valid =
      reachable.length === 0 ? `${fault.id} acts on no server` : `it must be one of ${reachable.join(", ")}`;
    throw invalidFault(`${field}server`, `"${requested.server}": ${valid}.`);
  }
  return {
    fault,
    atMs: requested.atMs ?? DEFAULT_AT_MS,
    durationMs: requested.durationMs ?? durationMs ?? 0,
    nodeName,
    nodeNames: requested.node === undefined ? nodeNames : [requested.node],
    servers,
    topology: fault.topology ?? null,
  };
}

export function invalidFault(field: string, message: string): LabError {
  return new LabError("invalid_fault", `${field}: ${message}`, { field });
}
