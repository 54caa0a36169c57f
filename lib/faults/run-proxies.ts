import { type ServerId, serverKind } from "../../servers/all-servers";
import { type Endpoint, endpointsOf } from "../../servers/server-kind";
import { systemClock } from "../locks/clock";
import { systemRandom } from "../locks/random";
import type { ProxyPorts } from "../node/run-assignment";
import { serverAddress } from "../services/missing-service";
import { TcpProxy } from "./proxy/tcp-proxy";

/** A proxy between one store node and one server. */
export interface ServerProxy {
  readonly node: string;
  readonly server: ServerId;
  readonly proxy: TcpProxy;
}

/** The kernel takes ports of outgoing connections from 32768 up: there, a proxy that is down could lose its port. */
const PORTS = { first: 26_000, count: 6_500 };
const ATTEMPTS = 100;

/**
 * The proxies of one run, on this host's loopback address: one between each of its nodes and each server endpoint. They live in
 * the process that opened the run. If it dies, the kernel closes their connections, and the purchases that need them fail.
 */
export class RunProxies implements AsyncDisposable {
  private readonly proxies: ServerProxy[] = [];

  constructor(private readonly addressOf: (server: ServerId) => string | undefined = serverAddress) {}

  /** Opens the proxies that are missing between these nodes and servers: all of them or none. @throws Error if no port is free */
  async open(nodes: readonly string[], servers: readonly ServerId[]): Promise<void> {
    const opened: ServerProxy[] = [];
    const missing = nodes.flatMap((node) =>
      servers.flatMap((server) => (this.between([node], [server]).length > 0 ? [] : [{ node, server }])),
    );
    try {
      for (const { node, server } of missing) {
        for (const endpoint of endpointsOf(serverKind(server), this.addressOf(server) ?? "")) {
          opened.push({ node, server, proxy: await startProxy(`${node}-${server}`, endpoint) });
        }
      }
      this.proxies.push(...opened);
    } catch (error) {
      await stopAll(opened);
      throw error;
    }
  }

  /** For `RunAssignment.proxyPorts`. */
  get ports(): Record<string, ProxyPorts> {
    const ports: Record<string, Record<string, number[]>> = {};
    for (const { node, server, proxy } of this.proxies) {
      ports[node] ??= {};
      const ofNode = ports[node];
      ofNode[server] = [...(ofNode[server] ?? []), proxy.port];
    }
    return ports;
  }

  get isEmpty(): boolean {
    return this.proxies.length === 0;
  }

  between(nodes: readonly string[], servers: readonly ServerId[]): readonly ServerProxy[] {
    return this.proxies.filter(({ node, server }) => nodes.includes(node) && servers.includes(server));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await stopAll(this.proxies);
  }
}

async function startProxy(name: string, { host, port }: Endpoint): Promise<TcpProxy> {
  const upstream = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  for (let attempt = 1; ; attempt += 1) {
    const listen = `127.0.0.1:${PORTS.first + Math.floor(Math.random() * PORTS.count)}`;
    const proxy = new TcpProxy({ name, listen, upstream, clock: systemClock, random: systemRandom });
    try {
      await proxy.start();
      return proxy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || attempt === ATTEMPTS) throw error;
    }
  }
}

async function stopAll(proxies: readonly ServerProxy[]): Promise<void> {
  await Promise.all(proxies.map(({ proxy }) => proxy.stop()));
}
