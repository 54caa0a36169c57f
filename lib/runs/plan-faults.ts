import type { ServerId } from "../../servers/all-servers";
import { faultsById } from "../faults/all-faults";
import type { Fault } from "../faults/fault";
import { DEFAULT_AT_MS } from "../faults/request";
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
}

/**
 * @param nodeNames the store nodes that serve the run
 * @throws LabError `fault_not_applicable` with the reason, `invalid_fault` with the field
 */
export function planFaults(request: RunRequest, nodeNames: readonly string[]): PlannedFault[] {
  const { strategy, ttlMs, fencing = true, faults = [] } = request;
  if (faults.length === 0) return [];
  const run = { traits: traitsOf(strategy), ttlMs, nodes: nodeNames.length, fencing };
  return faults.map((requested, index) => {
    const fault = faultsById[requested.id];
    const reason = fault.whyNotApplicable(run) ?? fault.whyUnavailable?.() ?? null;
    if (reason !== null) {
      const details = { field: `faults.${index}.id`, fault: fault.id, strategy };
      const message = `The fault ${fault.id} does not apply to ${strategy}: ${reason}.`;
      throw new LabError("fault_not_applicable", message, details);
    }
    const durationMs = fault.defaultDurationMs(run);
    if (durationMs === null && requested.durationMs !== undefined) {
      throw invalidFault(`faults.${index}.durationMs`, `${fault.id} is instant, so it takes no duration.`);
    }
    const [first = ""] = nodeNames;
    const nodeName = requested.node ?? first;
    if (!nodeNames.includes(nodeName)) {
      throw invalidFault(`faults.${index}.node`, `"${nodeName}" must be one of ${nodeNames.join(", ")}.`);
    }
    const atMs = requested.atMs ?? DEFAULT_AT_MS;
    const reachable = fault.proxiedServers?.(run) ?? [];
    const servers = reachable.filter((server) => (requested.server ?? server) === server);
    if (requested.server !== undefined && servers.length === 0) {
      const valid =
        reachable.length === 0 ? `${fault.id} acts on no server` : `it must be one of ${reachable.join(", ")}`;
      throw invalidFault(`faults.${index}.server`, `"${requested.server}": ${valid}.`);
    }
    return {
      fault,
      atMs,
      durationMs: requested.durationMs ?? durationMs ?? 0,
      nodeName,
      nodeNames: requested.node === undefined ? nodeNames : [requested.node],
      servers,
    };
  });
}

function invalidFault(field: string, message: string): LabError {
  return new LabError("invalid_fault", `${field}: ${message}`, { field });
}
