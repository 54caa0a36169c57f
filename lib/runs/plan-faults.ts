import { faultsById } from "../faults/all-faults";
import type { Fault } from "../faults/fault";
import { DEFAULT_AT_MS } from "../faults/request";
import { traitsOf } from "../stock/stock-strategies";
import type { RunRequest } from "./document";
import { LabError } from "./lab-error";

/** A fault as it will be injected. */
export interface PlannedFault {
  readonly fault: Fault;
  readonly atMs: number;
  /** 0 for a fault that is over at once. */
  readonly durationMs: number;
  /** The store node it is done to, where it is done to one. */
  readonly nodeName: string;
}

/**
 * What a run's request asks for, made whole.
 * @param nodeNames the store nodes that serve the run
 * @throws LabError `fault_not_applicable` with the reason, `invalid_fault` with the field
 */
export function planFaults(request: RunRequest, nodeNames: readonly string[]): PlannedFault[] {
  const { strategy, ttlMs, fencing = true, faults = [] } = request;
  if (faults.length === 0) return [];
  const subject = { traits: traitsOf(strategy), ttlMs, nodes: nodeNames.length, fencing };
  return faults.map((asked, index) => {
    const fault = faultsById[asked.id];
    const reason = fault.reasonAgainst(subject) ?? fault.reasonHere?.() ?? null;
    if (reason !== null) {
      const details = { field: `faults.${index}.id`, fault: fault.id, strategy };
      throw new LabError("fault_not_applicable", `${fault.id} cannot be done to ${strategy}: ${reason}.`, details);
    }
    const durationMs = fault.defaultDurationMs(subject);
    if (durationMs === null && asked.durationMs !== undefined) {
      throw invalidFault(`faults.${index}.durationMs`, `${fault.id} is over at once and takes none.`);
    }
    const [first = ""] = nodeNames;
    const nodeName = asked.node ?? first;
    if (!nodeNames.includes(nodeName)) {
      throw invalidFault(`faults.${index}.node`, `"${nodeName}" is none of ${nodeNames.join(", ")}.`);
    }
    return { fault, atMs: asked.atMs ?? DEFAULT_AT_MS, durationMs: asked.durationMs ?? durationMs ?? 0, nodeName };
  });
}

function invalidFault(field: string, message: string): LabError {
  return new LabError("invalid_fault", `${field}: ${message}`, { field });
}
