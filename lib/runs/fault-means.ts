import { RunProxies } from "../faults/run-proxies";
import { TopologyLease } from "../faults/topologies/topology-lease";
import type { RunAssignment } from "../node/run-assignment";
import { env } from "../services/current-env";
import { LabError } from "./lab-error";
import type { PlannedFault } from "./plan-faults";

/** What the faults of one run act on besides the lab's servers: proxies to them, and a topology. It ends with the run. */
export class FaultMeans implements AsyncDisposable {
  /** Of the faults that act on the network. */
  readonly proxies = new RunProxies();

  private constructor(readonly topology: TopologyLease | null) {}

  /** @throws LabError `fault_not_applicable` if a topology does not start */
  static async open(planned: readonly PlannedFault[]): Promise<FaultMeans> {
    const servers = [...new Set(planned.flatMap((fault) => fault.servers))];
    const nodes = [...new Set(planned.flatMap((fault) => (fault.servers.length > 0 ? fault.nodeNames : [])))];
    const means = new FaultMeans(await openTopology(planned));
    try {
      await means.proxies.open(nodes, servers);
      return means;
    } catch (error) {
      await means[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** How the nodes reach them. */
  get routes(): Pick<RunAssignment, "proxyPorts" | "serverAddresses"> {
    return {
      ...(this.proxies.isEmpty ? {} : { proxyPorts: this.proxies.ports }),
      ...(this.topology ? { serverAddresses: { ...this.topology.addresses.servers } } : {}),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.proxies[Symbol.asyncDispose](), this.topology?.[Symbol.asyncDispose]()]);
  }
}

async function openTopology(planned: readonly PlannedFault[]): Promise<TopologyLease | null> {
  const fault = planned.find(({ topology }) => topology !== null)?.fault;
  if (!fault?.topology) return null;
  const file = process.env.LAB_CONTROL_FILE ?? "";
  return TopologyLease.take(file, { topology: fault.topology, databaseUrl: env().DATABASE_URL }).catch(
    (cause: Error) => {
      const message = `The fault ${fault.id} needs the topology ${fault.topology}, which did not start: ${cause.message}`;
      throw new LabError("fault_not_applicable", message, { fault: fault.id });
    },
  );
}
