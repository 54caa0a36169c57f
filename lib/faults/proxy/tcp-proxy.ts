import { connect, createServer, type Server, type Socket } from "node:net";
import { type Address, addressText, parseAddress } from "./address";
import { Connection } from "./connection";
import type { ProxyDependencies } from "./stage";
import type { Attributes, Stream, Toxic, ToxicKind } from "./toxic";

export interface ProxyOptions extends ProxyDependencies {
  readonly name: string;
  /** `host:port`; port 0: any free port, which `listen` then names. */
  readonly listen: string;
  readonly upstream: string;
  /** How long a client waits for a server that does not listen yet. Absent: its connection closes at once. */
  readonly redialMs?: number;
}

const REDIAL_EVERY_MS = 20;

export interface ToxicSettings {
  readonly name: string;
  readonly kind: ToxicKind<unknown>;
  readonly stream: Stream;
  readonly toxicity: number;
  readonly attributes: Attributes;
}

/** Forwards TCP connections to one server, through toxics that can be added, changed and removed at any time. */
export class TcpProxy {
  readonly name: string;
  private listenAddress: Address;
  private upstreamAddress: Address;
  private server: Server | null = null;
  private readonly connections = new Set<Connection>();
  /** Connections to the server that are not open yet. */
  private readonly dialing = new Set<Socket>();
  private readonly added: Toxic[] = [];

  /** @throws Error for an address without a host or port */
  constructor(private readonly options: ProxyOptions) {
    this.name = options.name;
    this.listenAddress = parseAddress(options.listen);
    this.upstreamAddress = parseAddress(options.upstream);
  }

  get listen(): string {
    return addressText(this.listenAddress);
  }

  get upstream(): string {
    return addressText(this.upstreamAddress);
  }

  get port(): number {
    return this.listenAddress.port;
  }

  get enabled(): boolean {
    return this.server !== null;
  }

  get openConnections(): number {
    return this.connections.size;
  }

  /** Upstream first, each stream in the order of its chain. */
  get toxics(): readonly Toxic[] {
    const of = (stream: Stream) => this.added.filter((toxic) => toxic.stream === stream);
    return [...of("upstream"), ...of("downstream")];
  }

  toxic(name: string): Toxic | undefined {
    return this.added.find((toxic) => toxic.name === name);
  }

  /** Changes the addresses of a proxy that is stopped. */
  move({ listen, upstream }: Pick<ProxyOptions, "listen" | "upstream">): void {
    this.listenAddress = parseAddress(listen);
    this.upstreamAddress = parseAddress(upstream);
  }

  /** Starts to accept connections. Idempotent. @throws the error of `listen` */
  async start(): Promise<void> {
    if (this.server) return;
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => this.accept(client));
    this.server = server;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ ...this.listenAddress }, () => {
          server.off("error", reject);
          resolve();
        });
      });
    } catch (error) {
      this.server = null;
      throw error;
    }
    const bound = server.address();
    if (bound !== null && typeof bound === "object") this.listenAddress = { host: bound.address, port: bound.port };
  }

  /** Refuses new connections and closes the open ones. Idempotent. @returns how many it closed */
  async stop(): Promise<number> {
    const { server } = this;
    if (!server) return 0;
    this.server = null;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const cut = this.connections.size;
    for (const socket of this.dialing) socket.destroy();
    for (const connection of this.connections) connection.close();
    await closed;
    return cut;
  }

  addToxic(settings: ToxicSettings): Toxic {
    const toxic: Toxic = { ...settings, effect: { bytes: 0, connections: 0, ended: 0 } };
    this.added.push(toxic);
    for (const connection of this.connections) connection.link(toxic.stream).add(toxic);
    return toxic;
  }

  updateToxic(toxic: Toxic, { toxicity, attributes }: Pick<ToxicSettings, "toxicity" | "attributes">): void {
    toxic.toxicity = toxicity;
    toxic.attributes = attributes;
    for (const connection of this.connections) connection.link(toxic.stream).update(toxic);
  }

  removeToxic(toxic: Toxic): void {
    const index = this.added.indexOf(toxic);
    if (index < 0) return;
    this.added.splice(index, 1);
    for (const connection of this.connections) connection.link(toxic.stream).remove(toxic);
  }

  /** The client waits, unread, until the server has accepted. */
  private accept(client: Socket): void {
    this.dialing.add(client);
    client.once("error", () => this.giveUp(client));
    this.dial(client, this.options.clock.nowMs() + (this.options.redialMs ?? 0));
  }

  private dial(client: Socket, untilMs: number): void {
    const { clock, random } = this.options;
    const server = connect({ ...this.upstreamAddress, allowHalfOpen: true });
    this.dialing.add(server);
    const onError = () => {
      this.giveUp(server);
      if (client.destroyed || clock.nowMs() >= untilMs) this.giveUp(client);
      else clock.setTimer(REDIAL_EVERY_MS, () => client.destroyed || this.dial(client, untilMs));
    };
    server.once("error", onError);
    server.once("connect", () => {
      if (client.destroyed) return this.giveUp(server);
      server.off("error", onError);
      this.dialing.delete(server);
      this.dialing.delete(client);
      const onClose = () => this.connections.delete(connection);
      const connection = new Connection({ clock, random, client, server, toxics: this.added, onClose });
      this.connections.add(connection);
    });
  }

  private giveUp(socket: Socket): void {
    this.dialing.delete(socket);
    socket.destroy();
  }
}
