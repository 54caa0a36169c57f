import { type ArmedFault, type FaultRequest, MAX_FAULTS_PER_RUN } from "../faults/request";
import type { RunProxies } from "../faults/run-proxies";
import { traitsOf } from "../stock/stock-strategies";
import type { RunDocument } from "./document";
import { expectedVerdict } from "./expected";
import { LabError } from "./lab-error";
import { invalidFault, type PlannedFault, planFault } from "./plan-faults";

/** A run in progress, for a fault that it was not opened with. */
export interface ArmableRun {
  readonly document: RunDocument;
  /** The proxies that the run was opened with. */
  readonly proxies: RunProxies | null;
  /** The store nodes that serve the run. */
  readonly nodeNames: readonly string[];
  /** How long the run has been selling. */
  readonly sellingMs: number;
}

/**
 * @returns the fault to inject at once, and the document with the fault, so that the run can be repeated
 * @throws LabError `invalid_fault`, `fault_not_applicable`
 */
export function planArmedFault(
  { inMs = 0, ...armed }: ArmedFault,
  { document, proxies, nodeNames, sellingMs }: ArmableRun,
): { readonly document: RunDocument; readonly planned: PlannedFault } {
  const { strategy, config } = document;
  const { ttlMs, fencing, faults = [] } = config;
  if (faults.length >= MAX_FAULTS_PER_RUN) {
    throw invalidFault("id", `the run already has ${faults.length} faults, and a run can have ${MAX_FAULTS_PER_RUN}.`);
  }
  const planned = planFault({ ...armed, atMs: 0 }, { strategy, ttlMs, fencing, nodeNames, field: "" });
  rejectTopology(planned, strategy);
  rejectMissingProxies(planned, { strategy, proxies });
  const requested: FaultRequest = { ...armed, atMs: Math.min(600_000, sellingMs + inMs) };
  const withFault = { ...config, faults: [...faults, requested] };
  const expected = expectedVerdict(traitsOf(strategy), withFault);
  return { document: { ...document, config: withFault, expected }, planned };
}

/** The nodes use a topology for the whole run, or not at all. */
function rejectTopology({ fault, topology }: PlannedFault, strategy: string): void {
  if (topology === null) return;
  const message = `The fault ${fault.id} needs the topology ${topology}, which a run has only if it is opened with the fault. Open a new run with ${fault.id}.`;
  throw new LabError("fault_not_applicable", message, { field: "id", fault: fault.id, strategy });
}

/** The nodes connect through proxies from the run's first purchase on, or not at all. */
function rejectMissingProxies(
  { fault, nodeNames, servers }: PlannedFault,
  { strategy, proxies }: { readonly strategy: string; readonly proxies: RunProxies | null },
): void {
  const missing = servers.filter((server) => nodeNames.some((node) => !proxies?.between([node], [server]).length));
  if (missing.length === 0) return;
  const message = `The fault ${fault.id} needs proxies between the nodes and ${missing.join(", ")}, which a run has only if it is opened with a fault of the network. Open a new run with ${fault.id}.`;
  throw new LabError("fault_not_applicable", message, { field: "id", fault: fault.id, strategy });
}

/** Why no fault can be injected into a run that is not open in this process, or whose load is over. */
export function notArmable({ id, status }: RunDocument): LabError {
  const reason =
    status === "running"
      ? `The load of run ${id} is over, or another process opened the run. Send the fault to the process that opened it, while it sells.`
      : `Run ${id} has ended with the status ${status}. Start a new run with the fault.`;
  return new LabError("run_not_running", reason, { runId: id, status });
}
