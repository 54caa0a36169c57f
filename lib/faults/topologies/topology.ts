import type { FoundServer, StartContext } from "../../../servers/provisioning";
import type { ServerPort } from "../../../servers/server-kind";
import type { TopologyAddresses } from "./control";
import type { TopologyId } from "./ids";

/** What a topology uses to start. Its processes and links belong to the lab and end with the topology. */
export interface TopologyContext extends StartContext {
  /** The lab's PostgreSQL, as the process that asked for the topology reaches it. */
  readonly databaseUrl: string;
  /**
   * Starts a proxy to a planned port. Cutting the link closes its connections and refuses new ones.
   * @returns the port that the proxy listens on
   */
  link(name: string, to: number): Promise<number>;
  /** Deletes a folder outside `dataDir` when the topology has ended. */
  deleteAtEnd(dir: string): void;
}

/** A group of servers that the lab starts on demand, so that a fault can break what one server does not have. */
export interface Topology {
  readonly id: TopologyId;
  /** One noun phrase, for people. */
  readonly label: string;
  /** Ports of its processes, by process name: the default, and the offset from `--port-base`. */
  readonly ports: Readonly<Record<string, ServerPort>>;
  readonly packages: { readonly debian: readonly string[]; readonly brew: string };
  /** The program to start; null if this machine has none. */
  find(): Promise<FoundServer | null>;
  /** Starts all processes in an empty folder, and waits until they form the topology. */
  start(context: TopologyContext, found: FoundServer): Promise<TopologyAddresses>;
}
