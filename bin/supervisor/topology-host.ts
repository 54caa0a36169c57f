import type { TopologyAddresses } from "../../lib/faults/topologies/control";
import type { TopologyId } from "../../lib/faults/topologies/ids";
import type { Topology } from "../../lib/faults/topologies/topology";
import type { FoundServer } from "../../servers/provisioning";
import { isPortFree, type PortPlan, planPorts } from "../provision/ports";
import { findInstaller, installAdvice, installDebianPackages, isDebian } from "../provision/system-packages";
import type { OwnedProcess, ProcessEvents } from "./owned-process";
import { RunningTopology } from "./running-topology";

export interface TopologyHostOptions {
  readonly topologies: Readonly<Record<TopologyId, Topology>>;
  readonly dataDir: string;
  readonly logsDir: string;
  readonly portBase: number | undefined;
  readonly events: ProcessEvents;
}

/** What a process asks for. */
export interface WantedTopology {
  readonly topology: TopologyId;
  /** The PostgreSQL that a topology uses. */
  readonly databaseUrl: string;
}

/** A topology that was started, and how to act on it. */
export interface StartedTopology {
  readonly running: RunningTopology;
  readonly addresses: TopologyAddresses;
}

/** The topologies of a lab: starts them on demand, records their processes, and stops them. */
export class TopologyHost {
  private readonly instances = new Set<RunningTopology>();
  private readonly kept = new Map<TopologyId, Promise<StartedTopology>>();
  /** Starts wait for each other's choice of ports. */
  private planning: Promise<unknown> = Promise.resolve();
  private readonly ending = new AbortController();

  constructor(private readonly options: TopologyHostOptions) {}

  get processes(): OwnedProcess[] {
    return [...this.instances].flatMap(({ processes }) => processes);
  }

  /** @throws Error with the fix if the machine has no such server and none can be installed */
  async start(wanted: WantedTopology, signal: AbortSignal): Promise<StartedTopology> {
    const topology = this.options.topologies[wanted.topology];
    const found = (await topology.find()) ?? (await install(topology));
    signal.throwIfAborted();
    const running = await this.plan(topology, signal);
    try {
      return { running, addresses: await running.start(found, wanted.databaseUrl) };
    } catch (error) {
      this.instances.delete(running);
      throw error;
    }
  }

  async stop(running: RunningTopology): Promise<void> {
    try {
      await running.stop();
    } finally {
      this.instances.delete(running);
      this.options.events.onChange();
    }
  }

  /** Starts one that lasts until `drop`, unless one is running. */
  async keep(wanted: WantedTopology): Promise<TopologyAddresses> {
    const id = wanted.topology;
    const known = this.kept.get(id);
    if (known) return (await known).addresses;
    const started = this.start(wanted, this.ending.signal);
    this.kept.set(id, started);
    started.catch(() => this.kept.delete(id));
    return (await started).addresses;
  }

  /** @returns false if none was kept */
  async drop(id: TopologyId): Promise<boolean> {
    const started = await this.kept.get(id)?.catch(() => null);
    this.kept.delete(id);
    if (started) await this.stop(started.running);
    return Boolean(started);
  }

  async stopAll(): Promise<void> {
    this.ending.abort(new Error("the lab is stopping"));
    await Promise.all([...this.instances].map((running) => this.stop(running)));
  }

  private plan(topology: Topology, signal: AbortSignal): Promise<RunningTopology> {
    const planned = this.planning.then(async () => {
      const { dataDir, logsDir, events } = this.options;
      const running = new RunningTopology(topology, {
        number: this.freeNumber(topology),
        ports: await this.freePorts(topology),
        dataDir,
        logsDir,
        events,
        signal,
      });
      this.instances.add(running);
      return running;
    });
    this.planning = planned.catch(() => {});
    return planned;
  }

  private freeNumber(topology: Topology): number {
    const others = [...this.instances].filter((running) => running.topology === topology);
    const taken = new Set(others.map((running) => running.number));
    let number = 1;
    while (taken.has(number)) number += 1;
    return number;
  }

  private freePorts(topology: Topology): Promise<PortPlan> {
    const taken = new Set([...this.instances].flatMap(({ portNumbers }) => portNumbers));
    const isFree = async (port: number) => !taken.has(port) && (await isPortFree(port));
    const base = this.options.portBase;
    return planPorts(Object.keys(topology.ports), {
      env: process.env,
      isFree,
      ...(base === undefined ? {} : { base }),
    });
  }
}

async function install({ label, packages, find }: Topology): Promise<FoundServer> {
  const installer = await findInstaller();
  const advice = `${label} needs ${packages.debian.join(" and ")}; fix: ${installAdvice(packages)}`;
  if (installer.kind === "none" || !isDebian()) throw new Error(advice);
  await installDebianPackages(installer, packages.debian).catch((cause: Error) => {
    throw new Error(`${advice} (${cause.message})`, { cause });
  });
  const found = await find();
  if (found) return found;
  throw new Error(advice);
}
