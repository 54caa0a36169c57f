import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { faultsById } from "../faults/all-faults";
import { type FaultEvent, FaultMissed } from "../faults/fault";
import { LONGEST_PAUSE_MS } from "../node/node-stops";
import { log } from "../services/log";
import { settingText } from "../services/number-text";
import { traitsOf } from "../stock/stock-strategies";
import type { RunDocument } from "./document";
import type { FaultMeans } from "./fault-means";
import type { NodeClient } from "./node-client";
import type { PlannedFault } from "./plan-faults";
import { RunRouting } from "./run-routing";
import type { LiveFault } from "./run-sample";
import { storeProxyPorts } from "./run-store";
import { endedDatabase, labDatabase, type StockDatabase } from "./stock-database";

/** How long a fault may take to end and to be proven after the load is over. */
const SETTLE_LIMIT_MS = LONGEST_PAUSE_MS + 15_000;
const ARRIVALS_POLL_MS = 50;
/** How long the opening of a run waits for its faults to be armed. */
const ARM_LIMIT_MS = 5_000;

type Outcome = Pick<RunDocument, "faults" | "missedFaults">;

/** A fault that has not ended. */
interface OpenFault {
  readonly planned: PlannedFault;
  /** It has reached its moment. Of a fault that stops its node, the silence of the node shows it. */
  isDue: boolean;
  /** The load may start: the fault waits for its moment, or has ended. */
  readonly isArmed: AbortController;
}

interface RunningFaults {
  /** With every fault that was requested so far. */
  document: RunDocument;
  readonly open: Set<OpenFault>;
  readonly closing: AbortController;
  /** In the order of the requests. */
  readonly outcomes: Promise<Outcome>[];
  readonly means: FaultMeans;
  readonly routing: RunRouting;
}

/** Injects the faults of the runs opened in this process, and reports the outcome of each. */
export class RunFaults {
  private readonly running = new Map<string, RunningFaults>();

  constructor(private readonly nodes: readonly NodeClient[]) {}

  /** Resolves when every fault waits for its moment, so that the load does not start before. */
  async start(document: RunDocument, planned: readonly PlannedFault[], means: FaultMeans): Promise<void> {
    const closing = new AbortController();
    const serving = this.nodes.slice(0, document.config.nodes);
    const routing = new RunRouting({
      runId: document.id,
      proxies: means.proxies,
      nodes: serving,
      store: storeProxyPorts,
      closing: closing.signal,
    });
    const running: RunningFaults = { document, open: new Set(), closing, outcomes: [], means, routing };
    this.running.set(document.id, running);
    for (const fault of planned) this.launch(running, fault);
    const armed = [...running.open].map(({ isArmed: { signal } }) => signal.aborted || once(signal, "abort"));
    await within<unknown>(ARM_LIMIT_MS, Promise.all(armed), null);
  }

  /** The document with every fault requested so far; null if the run is not open here, or its load is over. */
  armable(runId: string): { readonly document: RunDocument; readonly means: FaultMeans } | null {
    const running = this.running.get(runId);
    return running && !running.closing.signal.aborted ? running : null;
  }

  /** Injects one more fault into a run that is `armable`, `inMs` from now and when its nodes are ready. @param document with the fault */
  arm(document: RunDocument, planned: PlannedFault, inMs: number): void {
    const running = this.running.get(document.id);
    if (!running) throw new Error(`run ${document.id} is not open here`);
    running.document = document;
    this.launch(running, planned, inMs);
  }

  private launch(running: RunningFaults, planned: PlannedFault, inMs = 0): void {
    const entry = { planned, isDue: false, isArmed: new AbortController() };
    running.open.add(entry);
    const ended = this.inject(running, entry, inMs).finally(() => {
      entry.isArmed.abort();
      running.open.delete(entry);
    });
    running.outcomes.push(ended);
  }

  /** The faults of a run that have not ended. @param lateNodes nodes that do not answer */
  live(runId: string, lateNodes: ReadonlySet<string>): LiveFault[] {
    return [...(this.running.get(runId)?.open ?? [])].flatMap((open): LiveFault[] => {
      const { fault, nodeName } = open.planned;
      if (!fault.stopsNode) return [{ id: fault.id, node: null, isActive: open.isDue }];
      const isActive = lateNodes.has(nodeName);
      // The node has been silent and answers again.
      if (open.isDue && !isActive) return [];
      open.isDue = isActive;
      return [{ id: fault.id, node: nodeName, isActive }];
    });
  }

  /** Where the stock and the orders of a run are. */
  stockOf({ id, config }: RunDocument): StockDatabase {
    const isReplaced = (config.faults ?? []).some((fault) => faultsById[fault.id].replacesDatabase);
    return isReplaced ? (this.running.get(id)?.means.stock ?? endedDatabase) : labDatabase;
  }

  /** Called when the load is over: waits until running faults have ended, and adds all outcomes to the document. */
  async settled(document: RunDocument): Promise<RunDocument> {
    const running = this.running.get(document.id);
    running?.closing.abort();
    const { config, expected } = running?.document ?? document;
    const requested = config.faults ?? [];
    if (requested.length === 0) return document;
    const unseen = (reason: string) => requested.map(({ id }) => missed(id, reason));
    const outcomes = running
      ? await within(
          SETTLE_LIMIT_MS,
          Promise.all(running.outcomes),
          unseen(`it did not end within ${SETTLE_LIMIT_MS / 1_000} s`),
        )
      : unseen("the dashboard restarted during the run");
    return {
      ...document,
      config,
      expected,
      faults: outcomes.flatMap(({ faults }) => faults),
      missedFaults: outcomes.flatMap(({ missedFaults = [] }) => missedFaults),
    };
  }

  /** Ends the faults of a run, and then what only they needed. */
  async forget(runId: string): Promise<void> {
    const running = this.running.get(runId);
    this.running.delete(runId);
    running?.closing.abort();
    await Promise.all(running?.outcomes ?? []);
    await running?.means[Symbol.asyncDispose]();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.running.keys()].map((runId) => this.forget(runId)));
  }

  private async inject(
    { document, closing: { signal: closing }, means, routing }: RunningFaults,
    open: OpenFault,
    inMs: number,
  ): Promise<Outcome> {
    const { fault, atMs, durationMs, nodeName, nodeNames, servers } = open.planned;
    const node = this.nodes.find(({ address }) => address.name === nodeName);
    try {
      if (!node) throw new FaultMissed(`there is no node ${nodeName}`);
      await Promise.all([routing.through(open.planned), pauseFor(inMs, closing)]);
      const { id: runId, target, strategy, config } = document;
      const event = await fault.inject({
        target,
        traits: traitsOf(strategy),
        ttlMs: config.ttlMs,
        nodeNames: this.nodes.slice(0, config.nodes).map(({ address }) => address.name),
        atMs,
        durationMs,
        node: {
          name: nodeName,
          armStop: (stop) => node.armStop(runId, stop).finally(() => open.isArmed.abort()),
          stops: () => node.stops(runId),
          disarmStops: () => node.disarmStops(runId),
        },
        proxies: means.proxies.between(nodeNames, servers),
        topology: means.topology,
        untilDue: async () => {
          open.isArmed.abort();
          await this.untilDue(runId, atMs, closing);
          open.isDue = true;
        },
        closing,
      });
      return tookEffect(fault.id, event);
    } catch (error) {
      const reason = (error as Error).message;
      log().warn({ runId: document.id, fault: fault.id, reason }, "the fault was not seen to take effect");
      return missed(fault.id, reason);
    }
  }

  /** @throws FaultMissed if the load ends first */
  private async untilDue(runId: string, atMs: number, closing: AbortSignal): Promise<void> {
    while (!closing.aborted && !(await this.hasPurchases(runId))) await pauseFor(ARRIVALS_POLL_MS, closing);
    await pauseFor(atMs, closing);
    if (closing.aborted)
      throw new FaultMissed(`the load ended less than ${settingText(atMs)} after its first purchase`);
  }

  private async hasPurchases(runId: string): Promise<boolean> {
    const stats = await Promise.allSettled(this.nodes.map((node) => node.stats(runId)));
    return stats.some((stat) => stat.status === "fulfilled" && stat.value.counts.requests > 0);
  }
}

/** Ends early if the load is over. */
async function pauseFor(ms: number, closing: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal: closing }).catch(() => {});
}

function tookEffect(faultId: string, { fromNs, toNs, ...event }: FaultEvent): Outcome {
  return { faults: [{ faultId, fromNs: String(fromNs), toNs: String(toNs), ...event }] };
}

function missed(faultId: string, reason: string): Outcome {
  return { faults: [], missedFaults: [{ faultId, reason }] };
}

async function within<T>(limitMs: number, work: Promise<T>, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), limitMs);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
