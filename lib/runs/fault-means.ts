import type { ServerId } from "../../servers/all-servers";
import { RunProxies } from "../faults/run-proxies";
import { TopologyLease } from "../faults/topologies/topology-lease";
import type { RunAssignment } from "../node/run-assignment";
import { env } from "../services/current-env";
import { serverAddress } from "../services/missing-service";
import type { StockTarget } from "../stock/types";
import { LabError } from "./lab-error";
import type { PlannedFault } from "./plan-faults";
import { labDatabase, SeparateDatabase, type StockDatabase } from "./stock-database";

/** What the faults of one run act on besides the lab's servers: proxies to them, and a topology. It ends with the run. */
export class FaultMeans implements AsyncDisposable {
  /** Of the faults that act on the network. */
  readonly proxies: RunProxies;
  private database: SeparateDatabase | null = null;

  private constructor(
    planned: readonly PlannedFault[],
    readonly topology: TopologyLease | null,
  ) {
    this.proxies = new RunProxies((server) => proxiedAddress(server, { planned, topology }));
  }

  /** @throws LabError `fault_not_applicable` if a topology does not start */
  static async open(planned: readonly PlannedFault[]): Promise<FaultMeans> {
    const servers = [...new Set(planned.flatMap((fault) => fault.servers))];
    const nodes = [...new Set(planned.flatMap((fault) => (fault.servers.length > 0 ? fault.nodeNames : [])))];
    const means = new FaultMeans(planned, await openTopology(planned));
    try {
      means.database = await openDatabase(planned, means.topology);
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
      ...(this.topology
        ? { serverAddresses: { ...this.topology.addresses.servers, ...this.database?.addresses } }
        : {}),
    };
  }

  /** Where the run's stock and orders are. */
  get stock(): StockDatabase {
    return this.database ?? labDatabase;
  }

  /** Copies the row that the run sells to the database that it sells on. */
  async receiveTarget(target: StockTarget): Promise<void> {
    await this.database?.receive(target);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database?.[Symbol.asyncDispose]();
    await Promise.all([this.proxies[Symbol.asyncDispose](), this.topology?.[Symbol.asyncDispose]()]);
  }
}

interface ProxiedServers {
  readonly planned: readonly Pick<PlannedFault, "topology" | "servers">[];
  readonly topology: Pick<TopologyLease, "addresses"> | null;
  /** The address of the lab's server. */
  readonly configured?: typeof serverAddress;
}

/**
 * Where proxies to a server lead. A topology's servers get proxies only for its own fault: other clients of a topology find its
 * servers by themselves, as the clients of a Sentinel do.
 * @returns undefined if the server gets none
 */
export function proxiedAddress(
  server: ServerId,
  { planned, topology, configured = serverAddress }: ProxiedServers,
): string | undefined {
  const replaced = topology?.addresses.servers[server];
  if (replaced === undefined) return configured(server);
  const isProxied = planned.some((fault) => fault.topology !== null && fault.servers.includes(server));
  return isProxied ? replaced : undefined;
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

async function openDatabase(
  planned: readonly PlannedFault[],
  topology: TopologyLease | null,
): Promise<SeparateDatabase | null> {
  const url = topology?.addresses.servers.postgres;
  const isReplaced = planned.some(({ fault }) => fault.replacesDatabase);
  return isReplaced && url !== undefined ? SeparateDatabase.open(url) : null;
}
