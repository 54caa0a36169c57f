import { once } from "node:events";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { topologiesById } from "../../lib/faults/topologies/all-topologies";
import { applyMigrations } from "../../lib/services/migrations";
import { forgetOrderedEnds, takeOrderedEnd } from "../../lib/services/ordered-end";
import { seed } from "../../prisma/seed";
import { serverKinds } from "../../servers/all-servers";
import type { ProcessSpec } from "../../servers/provisioning";
import { buildIfStale } from "../build/build";
import { cachedK6, describeK6, findK6 } from "../k6/find";
import { PORT_NAMES, type PortPlan, planPorts } from "../provision/ports";
import { provisionServers } from "../provision/servers";
import { withFileLock } from "../shared/file-lock.mjs";
import { ControlSocket } from "./control-socket";
import { keepLogsSmall, pruneLogs } from "./log-files";
import { OwnedProcess, type ProcessEvents } from "./owned-process";
import { type InstancePaths, ROOT } from "./paths";
import { reapOrphans } from "./reaper";
import { initialState, type LabState, readLiveState, readState, type Step, writeState } from "./state";
import { StateWriter } from "./state-writer";
import { MissingError, StepList } from "./steps";
import { DASHBOARD, STORE_NODE_NAMES, storeNodeSpec } from "./store-nodes";
import { TopologyHost } from "./topology-host";
import { currentCommit } from "./version";

/** A lab in this process: it records every process that it starts, and stops exactly those. */

export interface LabOptions {
  readonly paths: InstancePaths;
  readonly portBase?: number;
  /** Called after every change of a step. */
  readonly onStep?: (state: LabState, step: Step) => void;
  /** Events outside of steps: a crash, a restart. */
  readonly onNote?: (sentence: string) => void;
}

/** Another process runs this instance. */
export class AlreadyUpError extends Error {
  readonly state: LabState;
  constructor(state: LabState) {
    super(`The lab "${state.instance}" is already running (process ${state.supervisor.pid})`);
    this.state = state;
  }
}

const CLAIM_TIMEOUT_MS = 30_000;

export class Lab {
  readonly state: LabState;
  private readonly options: LabOptions;
  private readonly steps: StepList;
  /** In start order. Stopping takes the nodes first, then the servers. */
  private servers: OwnedProcess[] = [];
  private nodes: OwnedProcess[] = [];
  private readonly topologies: TopologyHost;
  private control: ControlSocket | null = null;
  private readonly aborter = new AbortController();
  private ports: PortPlan | null = null;
  /** Folder of the production build that the nodes serve; null: the shop is not up. */
  distDir: string | null = null;
  private stopping: Promise<void> | null = null;
  private readonly stopLogKeeper: () => void;
  private readonly writer: StateWriter;

  private constructor(options: LabOptions, state: LabState) {
    this.options = options;
    this.state = state;
    const onNote = (sentence: string) => options.onNote?.(sentence);
    this.writer = new StateWriter({ paths: options.paths, onNote });
    this.stopLogKeeper = keepLogsSmall(options.paths.logsDir, (error) =>
      onNote(`A log could not be rotated: ${error.message}`),
    );
    this.topologies = new TopologyHost({
      topologies: topologiesById,
      dataDir: path.join(options.paths.dataDir, "topologies"),
      logsDir: options.paths.logsDir,
      portBase: options.portBase,
      events: this.events,
    });
    this.steps = new StepList((step) => {
      this.state.steps = [...this.steps.steps];
      this.save();
      this.options.onStep?.(this.state, step);
    });
  }

  /**
   * Makes this process the supervisor of the instance, after stopping what a crashed predecessor left running.
   * @throws AlreadyUpError
   */
  static async claim(options: LabOptions): Promise<Lab> {
    const { paths } = options;
    mkdirSync(paths.logsDir, { recursive: true });
    const lock = { file: paths.lockFile, waitTimeoutMs: CLAIM_TIMEOUT_MS };
    return withFileLock(lock, async () => {
      const live = readLiveState(paths);
      if (live) throw new AlreadyUpError(live);
      const ended = await reapOrphans(readState(paths)?.processes ?? []);
      if (ended.length > 0)
        options.onNote?.(`Stopped processes that a crashed lab had left running: ${ended.join(", ")}`);
      pruneLogs(path.join(ROOT, ".lab", "logs"));
      forgetOrderedEnds(paths.stateFile);
      const state = initialState(paths.instance, await currentCommit());
      writeState(paths, state);
      return new Lab(options, state);
    });
  }

  /** Ports, servers, migrations, seed. @throws Error if PostgreSQL is unavailable */
  async startServers(): Promise<void> {
    const { paths, portBase } = this.options;
    this.addPackagesStep();
    this.control = await ControlSocket.open(paths.controlFile, this.topologies);
    this.ports = await planPorts(PORT_NAMES, { base: portBase, env: process.env });
    const { env, missing } = await provisionServers({
      paths,
      ports: this.ports,
      steps: this.steps,
      given: process.env,
      start: (spec) => this.start(this.servers, spec),
    });
    this.state.env = env;
    this.state.missing = missing;
    this.save();
    const databaseUrl = this.env("DATABASE_URL");
    await this.steps.run("migrations", async () => {
      const applied = await applyMigrations(databaseUrl);
      return { detail: applied.length > 0 ? `applied ${applied.join(", ")}` : "up to date" };
    });
    await this.steps.run("seed", async () => {
      const counts = await seed(databaseUrl);
      return { detail: `${counts.products} products, ${counts.coupons} coupons` };
    });
  }

  /** The production build if it is stale, then the dashboard and the store nodes. */
  async startApp(): Promise<void> {
    const { paths } = this.options;
    const built = await this.steps.run("build", () => buildIfStale(paths, this.aborter.signal));
    if (!built) throw new Error("The build step failed without an error.");
    this.distDir = built.distDir;
    const k6 = await this.steps.run("k6", k6Step);
    const names = [DASHBOARD, ...STORE_NODE_NAMES] as const;
    const urlOf = (name: (typeof names)[number]) => `http://127.0.0.1:${this.port(name)}`;
    this.state.nodes = STORE_NODE_NAMES.map((name) => ({ name, url: urlOf(name) }));
    await Promise.all(
      names.map((name) =>
        this.steps.run(name, async () => {
          const context = { paths, state: this.state, distDir: built.distDir, k6Binary: k6?.binary ?? cachedK6() };
          await this.start(this.nodes, storeNodeSpec(context, { name, port: this.port(name) }));
          return { detail: urlOf(name) };
        }),
      ),
    );
    this.state.dashboardUrl = urlOf(DASHBOARD);
  }

  markReady(): void {
    this.aborter.signal.throwIfAborted();
    this.state.status = "ready";
    this.save();
  }

  fail(error: unknown): void {
    this.state.error = error instanceof Error ? error.message : String(error);
  }

  /** Starts the processes that kept exiting now, not at the end of their interval. */
  revive(): void {
    for (const owned of [...this.servers, ...this.nodes]) owned.revive();
  }

  /** Stops what this lab started: store nodes first, then servers. Bounded and idempotent. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  /** Resolves when the lab has stopped. */
  async stopped(): Promise<void> {
    if (!this.aborter.signal.aborted) await once(this.aborter.signal, "abort");
    await this.stopping;
  }

  private async stopAll(): Promise<void> {
    this.state.status = "stopping";
    this.save();
    this.aborter.abort(new Error("The lab is stopping."));
    this.control?.close();
    const failures: unknown[] = [];
    for (const wave of [this.nodes, [{ stop: () => this.topologies.stopAll() }], this.servers]) {
      const outcomes = await Promise.allSettled(wave.map((owned) => owned.stop()));
      failures.push(...outcomes.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason));
    }
    this.state.status = this.state.error === null ? "stopped" : "failed";
    this.state.dashboardUrl = null;
    this.save();
    this.stopLogKeeper();
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("\n"));
  }

  private async start(list: OwnedProcess[], spec: ProcessSpec): Promise<void> {
    this.aborter.signal.throwIfAborted();
    const owned = new OwnedProcess(spec, this.events);
    list.push(owned);
    await owned.startAndWait(this.aborter.signal);
  }

  private get events(): ProcessEvents {
    return {
      onChange: () => this.save(),
      wasOrdered: (pid) => takeOrderedEnd(pid, this.options.paths.stateFile),
      onNote: (sentence) => this.options.onNote?.(sentence),
    };
  }

  private save(): void {
    const owned = [...this.servers, ...this.nodes, ...this.topologies.processes];
    this.state.processes = owned.map((process) => process.recorded).filter((process) => process !== null);
    this.state.failed = owned.map((process) => process.failed).filter((process) => process !== null);
    this.writer.write(this.state);
  }

  private port(name: string): number {
    if (!this.ports) throw new Error("Ports are not planned yet: call startServers() first.");
    const planned = this.ports[name];
    if (!planned) throw new Error(`No port is planned for "${name}".`);
    return planned.port;
  }

  private env(name: string): string {
    const value = this.state.env[name];
    if (value === undefined) throw new Error(`${name} is not set: its server did not start.`);
    return value;
  }

  /** bootstrap.mjs installs packages before this code can run, and reports its step through the environment. */
  private addPackagesStep(): void {
    const handedOver: unknown = JSON.parse(process.env.LAB_PACKAGES_STEP ?? "null");
    if (typeof handedOver !== "object" || handedOver === null) return;
    const { detail, durationMs } = handedOver as { detail?: unknown; durationMs?: unknown };
    this.steps.add({ name: "packages", status: "done", detail: String(detail), durationMs: Number(durationMs) });
  }
}

/** Building k6 takes two minutes, so a start does not wait for it: the built-in generator sends the load instead. */
async function k6Step(): Promise<{ detail: string; binary: string }> {
  const fallback = "so the built-in generator sends the load";
  const k6 = await findK6().catch((error: Error) => {
    throw new MissingError({ reason: error.message, fix: fallback });
  });
  if (k6) return { detail: describeK6(k6), binary: k6.binary };
  throw new MissingError({ reason: `not installed, ${fallback}`, fix: "fix: npm run k6" });
}

/** The variables that configure servers. */
export const SERVER_ENV_NAMES: readonly string[] = serverKinds.map(({ variable }) => variable);
