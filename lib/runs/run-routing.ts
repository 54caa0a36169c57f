import { setTimeout as delay } from "node:timers/promises";
import { FaultMissed } from "../faults/fault";
import type { RunProxies, ServerProxy } from "../faults/run-proxies";
import { elapsedMs, nowNs } from "../services/monotonic";
import type { NodeClient } from "./node-client";
import type { PlannedFault } from "./plan-faults";

/** How long a fault waits until the nodes have connected through its proxies. A node without purchases does not connect. */
const CONNECT_LIMIT_MS = 2_000;
const POLL_MS = 10;

export interface RunRoutingOptions {
  readonly runId: string;
  readonly proxies: RunProxies;
  readonly nodes: readonly Pick<NodeClient, "address" | "reroute">[];
  /** Stores the ports for a node that restarts during the run. */
  readonly store: (runId: string, ports: RunProxies["ports"]) => Promise<void>;
  /** Aborts when the load is over. */
  readonly closing: AbortSignal;
}

/**
 * Moves the nodes of a running sale to proxies, for a fault of the network that the run was not opened with. The nodes stay on them
 * until the run ends, so that its figures after the fault compare with those during it.
 */
export class RunRouting {
  /** The ports that each node has confirmed. */
  private readonly confirmed = new Map<string, string>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: RunRoutingOptions) {
    const { ports } = options.proxies;
    for (const node of Object.keys(ports)) this.confirmed.set(node, textOf(ports[node]));
  }

  /**
   * Resolves when new purchases on the fault's nodes use proxies to its servers. One call after the other.
   * @throws FaultMissed that names the nodes which did not switch, and why
   */
  through(planned: PlannedFault): Promise<void> {
    const switched = this.last.then(() => this.switch(planned));
    this.last = switched.catch(() => {});
    return switched;
  }

  private async switch({ nodeNames, servers }: PlannedFault): Promise<void> {
    const { runId, proxies, nodes, store, closing } = this.options;
    if (servers.length === 0) return;
    await proxies.open(nodeNames, servers);
    const { ports } = proxies;
    const late = nodes.filter(({ address: { name } }) => {
      return nodeNames.includes(name) && this.confirmed.get(name) !== textOf(ports[name]);
    });
    if (late.length === 0) return;
    await store(runId, ports);
    const failures = await Promise.all(late.map((node) => this.switchNode(node, ports)));
    const reasons = failures.filter((reason) => reason !== null);
    if (reasons.length > 0) throw new FaultMissed(`not every node switched to its proxies: ${reasons.join("; ")}`);
    await untilConnected(proxies.between(nodeNames, servers), closing);
  }

  /** @returns why the node did not switch; null if it did */
  private async switchNode(
    node: RunRoutingOptions["nodes"][number],
    proxyPorts: RunProxies["ports"],
  ): Promise<string | null> {
    const { name } = node.address;
    try {
      await node.reroute(this.options.runId, { proxyPorts });
      this.confirmed.set(name, textOf(proxyPorts[name]));
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }
}

const textOf = (ports: object | undefined): string => JSON.stringify(ports ?? {});

/** Waits until each node has a connection to each server: a client of several servers may use one of them. */
async function untilConnected(proxies: readonly ServerProxy[], closing: AbortSignal): Promise<void> {
  const isSameLink = (one: ServerProxy, other: ServerProxy) => one.node === other.node && one.server === other.server;
  const isConnected = () =>
    proxies.every((link) => proxies.some((other) => isSameLink(link, other) && other.proxy.openConnections > 0));
  const beganNs = nowNs();
  while (!isConnected() && !closing.aborted && elapsedMs(beganNs) < CONNECT_LIMIT_MS) {
    await delay(POLL_MS, undefined, { signal: closing }).catch(() => {});
  }
}
