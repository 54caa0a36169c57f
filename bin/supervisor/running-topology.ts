import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import type { TopologyAddresses } from "../../lib/faults/topologies/control";
import type { Topology } from "../../lib/faults/topologies/topology";
import type { FoundServer, ProcessSpec } from "../../servers/provisioning";
import type { PortPlan } from "../provision/ports";
import { OwnedProcess, type ProcessEvents } from "./owned-process";
import { TopologyLink } from "./topology-link";

/** The lab runs one instance of a topology, and further ones for other connections at the same time. */
export interface InstanceOptions {
  /** 1 for the first instance. */
  readonly number: number;
  readonly ports: PortPlan;
  readonly dataDir: string;
  readonly logsDir: string;
  readonly events: ProcessEvents;
  /** Aborts the start. */
  readonly signal: AbortSignal;
}

/** The processes and links of one instance. A process that a fault killed stays down until it is revived. */
export class RunningTopology {
  readonly processes: OwnedProcess[] = [];
  private readonly links = new Map<string, TopologyLink>();
  private readonly dataDir: string;
  private readonly folders: Set<string>;
  private stopping: Promise<void> | null = null;

  constructor(
    readonly topology: Topology,
    private readonly options: InstanceOptions,
  ) {
    this.dataDir = path.join(options.dataDir, this.nameOf(topology.id));
    this.folders = new Set([this.dataDir]);
  }

  /** @throws Error if a process does not become ready; then none is left running */
  async start(found: FoundServer, databaseUrl: string): Promise<TopologyAddresses> {
    rmSync(this.dataDir, { recursive: true, force: true });
    mkdirSync(this.dataDir, { recursive: true });
    try {
      return await this.topology.start(
        {
          databaseUrl,
          dataDir: this.dataDir,
          logsDir: this.options.logsDir,
          port: (name) => this.port(name),
          start: (spec) => this.startProcess(spec),
          link: (name, to) => this.startLink(name, to),
          deleteAtEnd: (dir) => this.folders.add(dir),
        },
        found,
      );
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  kill(name: string): Promise<void> {
    return this.process(name).kill();
  }

  revive(name: string): Promise<void> {
    return this.process(name).startAndWait(this.options.signal);
  }

  pause(name: string, durationMs: number): void {
    this.process(name).pause(durationMs);
  }

  resume(name: string): void {
    this.process(name).resume();
  }

  async cut(name: string): Promise<void> {
    await this.linkNamed(name).cut();
  }

  async silence(name: string, durationMs: number): Promise<void> {
    await this.linkNamed(name).silence(durationMs);
  }

  async restore(name: string): Promise<void> {
    await this.linkNamed(name).restore();
  }

  /** @param to the name of a planned port */
  async redirect(name: string, to: string): Promise<void> {
    await this.linkNamed(name).redirect(`127.0.0.1:${this.port(to)}`);
  }

  get number(): number {
    return this.options.number;
  }

  get portNumbers(): number[] {
    return Object.values(this.options.ports).map(({ port }) => port);
  }

  /** Stops every process and link, and deletes the data. Idempotent. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<void> {
    const links = [...this.links.values()].map((link) => link.cut());
    const ended = await Promise.allSettled([...links, ...this.processes.map((owned) => owned.stop())]);
    for (const dir of this.folders) rmSync(dir, { recursive: true, force: true });
    const failures = ended.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("\n"));
  }

  private async startProcess(spec: ProcessSpec): Promise<void> {
    this.options.signal.throwIfAborted();
    const name = this.nameOf(spec.name);
    const logFile = path.join(this.options.logsDir, `${name}.log`);
    const owned = new OwnedProcess({ ...spec, name, logFile, staysDown: true }, this.options.events);
    this.processes.push(owned);
    await owned.startAndWait(this.options.signal);
  }

  private async startLink(name: string, to: number): Promise<number> {
    const link = new TopologyLink({ name, listen: `127.0.0.1:${this.port(name)}`, upstream: `127.0.0.1:${to}` });
    this.links.set(name, link);
    await link.restore();
    return link.port;
  }

  private nameOf(name: string): string {
    return this.options.number === 1 ? name : `${name}.${this.options.number}`;
  }

  private process(name: string): OwnedProcess {
    const known = this.processes.find(({ spec }) => spec.name === this.nameOf(name));
    if (known) return known;
    throw new Error(`${this.topology.id} has no process "${name}"`);
  }

  private linkNamed(name: string): TopologyLink {
    const known = this.links.get(name);
    if (known) return known;
    throw new Error(`${this.topology.id} has no link "${name}"; valid names: ${[...this.links.keys()].join(", ")}`);
  }

  private port(name: string): number {
    const planned = this.options.ports[name];
    if (planned) return planned.port;
    throw new Error(`no port is planned for "${name}"`);
  }
}
