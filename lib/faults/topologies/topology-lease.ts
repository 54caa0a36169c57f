import type { ControlRequest, TopologyAddresses } from "./control";
import { ControlClient } from "./control-client";
import type { TopologyId } from "./ids";

/** Why this lab cannot start topologies; null if it can. */
export function whyNoTopology(): string | null {
  if (process.env.LAB_CONTROL_FILE) return null;
  return "it needs servers that only the lab's supervisor starts; start the lab with npm start";
}

/** A topology that belongs to this process: it ends with the lease, with this process, or with the lab. */
export class TopologyLease implements AsyncDisposable {
  private constructor(
    private readonly supervisor: ControlClient,
    readonly addresses: TopologyAddresses,
  ) {}

  /** Starts a topology. @throws Error with the reason and the fix if it does not start */
  static async take(
    socketFile: string,
    { topology, databaseUrl }: { readonly topology: TopologyId; readonly databaseUrl: string },
  ): Promise<TopologyLease> {
    const supervisor = await ControlClient.open(socketFile).catch((cause: Error) => {
      throw new Error(`the lab's supervisor does not answer (${cause.message}); restart the lab`, { cause });
    });
    try {
      const reply = await supervisor.ask({ do: "start", topology, databaseUrl });
      if ("addresses" in reply) return new TopologyLease(supervisor, reply.addresses);
      throw new Error("the supervisor returned no addresses");
    } catch (error) {
      await supervisor[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The address of one of its processes. @throws Error for an unknown name */
  address(process: string): string {
    const address = this.addresses.processes[process];
    if (address !== undefined) return address;
    const names = Object.keys(this.addresses.processes).join(", ");
    throw new Error(`the topology has no process "${process}"; valid names: ${names}`);
  }

  /** SIGKILL. Returns when the process has ended. */
  kill = (process: string) => this.tell({ do: "kill", process });
  /** Starts a killed process again, and waits until it answers. */
  revive = (process: string) => this.tell({ do: "revive", process });
  /** SIGSTOP for this time, unless it is resumed earlier. */
  pause = (process: string, durationMs: number) => this.tell({ do: "pause", process, durationMs });
  resume = (process: string) => this.tell({ do: "resume", process });
  /** Closes the connections of a link, and refuses new ones until it is restored. */
  cut = (link: string) => this.tell({ do: "cut", link });
  /** Keeps the connections of a link open and discards their data, for this time or until it is restored. */
  silence = (link: string, durationMs: number) => this.tell({ do: "silence", link, durationMs });
  restore = (link: string) => this.tell({ do: "restore", link });
  /** Closes the connections of a link, and leads new ones to another process. */
  redirect = (link: string, process: string) => this.tell({ do: "redirect", link, to: process });

  /** Returns when the supervisor has stopped every process. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor[Symbol.asyncDispose]();
  }

  private async tell(request: ControlRequest): Promise<void> {
    await this.supervisor.ask(request);
  }
}
