import type { ProxyDependencies } from "./stage";
import { type ProxyOptions, TcpProxy } from "./tcp-proxy";
import { ToxiproxyError } from "./toxiproxy-error";

export interface ProxySettings extends Pick<ProxyOptions, "name" | "listen" | "upstream"> {
  readonly enabled: boolean;
}

/** Proxies by name. */
export class ProxyCollection {
  private readonly proxies = new Map<string, TcpProxy>();

  constructor(private readonly dependencies: ProxyDependencies) {}

  all(): readonly TcpProxy[] {
    return [...this.proxies.values()];
  }

  /** @throws ToxiproxyError */
  get(name: string): TcpProxy {
    const proxy = this.proxies.get(name);
    if (proxy) return proxy;
    throw new ToxiproxyError(404, "proxy not found");
  }

  /** @throws ToxiproxyError if the name is taken, Error if it cannot listen */
  async add(settings: ProxySettings): Promise<TcpProxy> {
    if (this.proxies.has(settings.name)) throw new ToxiproxyError(409, "proxy already exists");
    return this.put(settings);
  }

  /** Keeps a proxy that has these addresses already, and replaces one that has others. */
  async addOrReplace(settings: ProxySettings): Promise<TcpProxy> {
    const existing = this.proxies.get(settings.name);
    if (existing && existing.listen === settings.listen && existing.upstream === settings.upstream) return existing;
    await existing?.stop();
    return this.put(settings);
  }

  /** Changes addresses, which restarts the proxy, and starts or stops it. Keeps its toxics. */
  async update(name: string, { listen, upstream, enabled }: Omit<ProxySettings, "name">): Promise<TcpProxy> {
    const proxy = this.get(name);
    if (listen !== proxy.listen || upstream !== proxy.upstream) {
      await proxy.stop();
      proxy.move({ listen, upstream });
    }
    if (enabled) await proxy.start();
    else await proxy.stop();
    return proxy;
  }

  async remove(name: string): Promise<void> {
    const proxy = this.get(name);
    this.proxies.delete(name);
    await proxy.stop();
  }

  async close(): Promise<void> {
    const proxies = this.all();
    this.proxies.clear();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  }

  private async put({ enabled, ...addresses }: ProxySettings): Promise<TcpProxy> {
    const proxy = new TcpProxy({ ...this.dependencies, ...addresses });
    this.proxies.set(proxy.name, proxy);
    try {
      if (enabled) await proxy.start();
    } catch (error) {
      this.proxies.delete(proxy.name);
      throw error;
    }
    return proxy;
  }
}
