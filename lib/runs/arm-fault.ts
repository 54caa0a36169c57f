import { type ArmedFault, type FaultRequest, MAX_FAULTS_PER_RUN } from "../faults/request";
import type { TopologyLease } from "../faults/topologies/topology-lease";
import { traitsOf } from "../stock/stock-strategies";
import type { RunDocument } from "./document";
import { expectedVerdict } from "./expected";
import { LabError } from "./lab-error";
import { invalidFault, type PlannedFault, planFault } from "./plan-faults";

/** A run in progress, for a fault that it was not opened with. */
export interface ArmableRun {
  readonly document: RunDocument;
  /** The topology that the run was opened with. */
  readonly topology: Pick<TopologyLease, "addresses"> | null;
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
  { document, topology, nodeNames, sellingMs }: ArmableRun,
): { readonly document: RunDocument; readonly planned: PlannedFault } {
  const { strategy, config } = document;
  const { ttlMs, fencing, faults = [] } = config;
  if (faults.length >= MAX_FAULTS_PER_RUN) {
    throw invalidFault("id", `the run already has ${faults.length} faults, and a run can have ${MAX_FAULTS_PER_RUN}.`);
  }
  const planned = planFault({ ...armed, atMs: 0 }, { strategy, ttlMs, fencing, nodeNames, field: "" });
  rejectNewTopology(planned, strategy);
  rejectReplacedServers(planned, { strategy, topology });
  const requested: FaultRequest = { ...armed, atMs: Math.min(600_000, sellingMs + inMs) };
  const withFault = { ...config, faults: [...faults, requested] };
  const expected = expectedVerdict(traitsOf(strategy), withFault);
  return { document: { ...document, config: withFault, expected }, planned };
}

/** Moving a running sale to other servers would change what is measured: its locks and counters are on the lab's servers. */
function rejectNewTopology({ fault, topology }: PlannedFault, strategy: string): void {
  if (topology === null) return;
  const message = `The fault ${fault.id} needs the servers of the topology ${topology} from the first purchase on. Open a new run with ${fault.id}.`;
  throw new LabError("fault_not_applicable", message, { field: "id", fault: fault.id, strategy });
}

/** Only the topology's own fault has proxies before its servers, from the first purchase on. */
function rejectReplacedServers(
  { fault, servers }: PlannedFault,
  { strategy, topology }: { readonly strategy: string; readonly topology: ArmableRun["topology"] },
): void {
  const replaced = servers.filter((server) => topology?.addresses.servers[server] !== undefined);
  if (replaced.length === 0) return;
  const message = `The fault ${fault.id} acts on ${replaced.join(", ")}, and this run uses the servers of its topology instead. Name another server, or open a new run with ${fault.id}.`;
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
