import { randomBytes } from "node:crypto";
import { livenessOf } from "../history/check-history";
import { type Operation, OperationReader } from "../history/operation";
import { runChecksYielding } from "../history/yielding";
import type { NodeRunStats } from "../node/purchase-meter";
import type { RunAssignment, RunPreparation } from "../node/run-assignment";
import { log } from "../services/log";
import type { StockDrift } from "../stock/types";
import type { FinishRequest, RunDocument, RunRequest } from "./document";
import { LabError } from "./lab-error";
import { historyOf, measure } from "./measure-run";
import { newDocument } from "./new-document";
import type { NodeClient } from "./node-client";
import { planFaults } from "./plan-faults";
import { readInTurns } from "./read-in-turns";
import { RunFaults } from "./run-faults";
import { newRunId } from "./run-id";
import * as store from "./run-store";
import { limitPerUserOf, prepareTarget, returnUnsold } from "./run-target";
import { type Caveats, conclude, noCaveats } from "./run-verdict";
import { Sampler } from "./sampler";

/** How long the lab waits for the load generator to appear and finish, beyond the run's own length. */
const GRACE_MS = 120_000;
/** After the load is over, how long the client's report may take. */
const REPORT_WAIT_MS = 10_000;
/** How often a closing run is asked whether its last purchases are through. */
const DRAIN_POLL_MS = 50;

export interface CoordinatorOptions {
  readonly nodes: readonly NodeClient[];
  /** What the catalogue expects of a run on so many nodes. @throws LabError for an unknown or unavailable strategy */
  readonly expectedOf: (request: RunRequest, nodes: number) => RunDocument["expected"];
  readonly versions: () => Promise<Record<string, string>>;
}

/** What goes on beside a run that was opened here. */
interface Feed {
  readonly sampler: Sampler;
  readonly deadline: NodeJS.Timeout;
}

/**
 * A run's life: open (target made, every node has acknowledged), measure, close, judge. State is in PostgreSQL, so any
 * process may finish a run that another opened; what is kept here is the feed of the runs opened here.
 */
export class Coordinator {
  private readonly live = new Map<string, Feed>();
  /** Keys of the runs opened here; documents are public, so they are not in them. */
  private readonly keys = new Map<string, string>();
  private readonly faults: RunFaults;
  private opening = false;

  constructor(private readonly options: CoordinatorOptions) {
    this.faults = new RunFaults(options.nodes);
  }

  /** @throws LabError `run_active`, `unknown_strategy`, `strategy_unavailable`, `target_not_found`, `node_unavailable`, `too_many_nodes`, `invalid_fault`, `fault_not_applicable` */
  async open(request: RunRequest): Promise<RunDocument> {
    if (this.opening) throw new LabError("run_active", "Another run is being opened.");
    this.opening = true;
    try {
      return await this.openAlone(request);
    } finally {
      this.opening = false;
    }
  }

  private async openAlone(request: RunRequest): Promise<RunDocument> {
    const nodeCount = this.countNodes(request);
    const expected = this.options.expectedOf(request, nodeCount);
    const serving = this.options.nodes.slice(0, nodeCount).map(({ address }) => address.name);
    const faults = planFaults(request, serving);
    await this.refuseWhileRunning();
    const id = newRunId();
    const target = await prepareTarget(id, request);
    if (!target) throw new LabError("target_not_found", `There is no ${request.target.kind} ${request.target.id}.`);
    const versions = await this.options.versions();
    const limitPerUser = await limitPerUserOf(target);
    const document = newDocument({ id, request, target, limitPerUser, nodes: nodeCount, expected, versions });
    const { strategy, stock, holdMs, ttlMs, waitTimeoutMs, fencing } = request;
    await this.prepareStock(id, { strategy, target, stock });
    const runKey = randomBytes(16).toString("hex");
    await this.assignAll({ runId: id, runKey, strategy, target, holdMs, ttlMs, waitTimeoutMs, fencing });
    const limitMs = GRACE_MS + waitTimeoutMs + (document.config.durationMs ?? 0);
    this.keys.set(id, runKey);
    await store.insertRun(document, Date.now() + limitMs);
    this.startFeed(document, limitMs);
    this.faults.start(document, faults);
    return document;
  }

  /** What a run's load sends as `x-run-key`; undefined when the run was opened by another process, or has ended. */
  runKey(id: string): string | undefined {
    return this.keys.get(id);
  }

  /**
   * Ends a run's load. With `awaitClientReport` the run is judged provisionally and stays `running` until the report
   * comes in a second call; without, it is finished. On a run that has ended it changes nothing.
   * @throws LabError `run_not_found`
   */
  async finish(id: string, request: FinishRequest): Promise<RunDocument> {
    const stored = await store.readStoredRun(id);
    if (!stored) throw new LabError("run_not_found", `There is no run ${id}.`);
    if (stored.document.status !== "running") return stored.document;
    const { measured, caveats } = await this.closeAndMeasure(await this.faults.settled(stored.document));
    const client = request.client ?? null;
    const concluded = conclude({ document: measured, client, caveats });
    if (!client && request.awaitClientReport) return this.awaitReport(concluded);
    return this.end({ ...concluded, status: "finished" });
  }

  /** Gives a run up: its load generator died, or nobody finished it in time. */
  async fail(id: string, reason: string): Promise<void> {
    const stored = await store.readStoredRun(id);
    if (stored?.document.status !== "running") return;
    const { measured, caveats } = await this.closeAndMeasure(await this.faults.settled(stored.document));
    const concluded = conclude({ document: measured, client: null, caveats });
    await this.end({ ...concluded, status: "failed", sentences: [reason, ...concluded.sentences] });
  }

  /**
   * Gives up what an earlier coordinator left running: its feed is gone, and the load that it drove ended with it. For
   * the one process that coordinates, once, when it starts.
   */
  async failOrphanedRuns(): Promise<void> {
    for (;;) {
      const left = await store.readRunningRun();
      if (!left || this.keys.has(left.document.id)) return;
      await this.fail(left.document.id, "The dashboard was started again in the middle of the run.");
    }
  }

  /** Stops every feed; runs that are running stay so in the database, and the next start gives them up. */
  async stop(): Promise<void> {
    const feeds = [...this.live.values()];
    this.live.clear();
    this.faults.stop();
    for (const feed of feeds) clearTimeout(feed.deadline);
    await Promise.allSettled(feeds.map((feed) => feed.sampler.stop()));
  }

  private countNodes(request: RunRequest): number {
    const known = this.options.nodes.length;
    const wanted = request.nodes ?? known;
    if (wanted <= known) return wanted;
    throw new LabError("too_many_nodes", `nodes: ${wanted} asked for, the lab has ${known}.`, { field: "nodes" });
  }

  private async refuseWhileRunning(): Promise<void> {
    const running = await store.readRunningRun();
    if (!running) return;
    const { id } = running.document;
    // Runs opened here have a timer; of others only the stored time tells.
    const isOverdue = !this.keys.has(id) && Date.now() > running.deadlineAtEpochMs;
    if (isOverdue) return this.fail(id, "Nobody finished the run in time.");
    throw new LabError("run_active", `Run ${id} is still running.`, { runId: id });
  }

  /** Strategies that keep the stock elsewhere than in the target's row get it there once, before anybody can buy. */
  private async prepareStock(runId: string, preparation: RunPreparation): Promise<void> {
    const [first] = this.options.nodes;
    try {
      await first?.prepare(runId, preparation);
    } catch (error) {
      throw new LabError("node_unavailable", `The stock could not be prepared: ${(error as Error).message}`);
    }
  }

  /** A run starts only after every node has acknowledged it. */
  private async assignAll(assignment: RunAssignment): Promise<void> {
    const answers = await Promise.allSettled(this.options.nodes.map((node) => node.assign(assignment)));
    const refusals = answers.flatMap((answer) =>
      answer.status === "rejected" ? [(answer.reason as Error).message] : [],
    );
    if (refusals.length === 0) return;
    await Promise.allSettled(this.options.nodes.map((node) => node.close(assignment.runId)));
    throw new LabError("node_unavailable", `Not every node took the run on: ${refusals.join("; ")}`);
  }

  private startFeed(document: RunDocument, limitMs: number): void {
    const sampler = new Sampler(document, this.options.nodes);
    const deadline = this.giveUpAfter(document.id, limitMs);
    this.live.set(document.id, { sampler, deadline });
    sampler.start();
  }

  /** A timer runs on the monotonic clock: a wall clock that is set in mid-run ends no run. */
  private giveUpAfter(id: string, limitMs: number): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.fail(id, "Nobody finished the run in time.").catch((error: Error) => {
        log().error({ runId: id, err: error }, "the run could not be given up");
      });
    }, limitMs);
    timer.unref();
    return timer;
  }

  private async awaitReport(document: RunDocument): Promise<RunDocument> {
    const deadlineAtEpochMs = Date.now() + REPORT_WAIT_MS;
    await store.updateRunning(document, deadlineAtEpochMs);
    const feed = this.live.get(document.id);
    if (feed) clearTimeout(feed.deadline);
    const deadline = setTimeout(() => {
      this.end({ ...document, status: "finished" }).catch((error: Error) => {
        log().error({ runId: document.id, err: error }, "the run could not be ended");
      });
    }, REPORT_WAIT_MS);
    deadline.unref();
    if (feed) this.live.set(document.id, { ...feed, deadline });
    return document;
  }

  private async end(document: RunDocument): Promise<RunDocument> {
    const feed = this.live.get(document.id);
    this.live.delete(document.id);
    this.keys.delete(document.id);
    this.faults.forget(document.id);
    if (feed) {
      clearTimeout(feed.deadline);
      await feed.sampler.stop();
    }
    if (await store.updateRunning(document)) return document;
    // Somebody else ended it first; theirs is the document that counts.
    return (await store.readStoredRun(document.id))?.document ?? document;
  }

  private async closeAndMeasure(document: RunDocument): Promise<{ measured: RunDocument; caveats: Caveats }> {
    const { nodes } = this.options;
    const closed = await settleByNode(nodes, (node) => node.close(document.id));
    const stats = await this.drain(document);
    const histories = await settleByNode(nodes, (node) => node.history(document.id));
    const silentNodes = [...new Set([...closed.silent, ...stats.silent, ...histories.silent])];
    const ops: Operation[] = [];
    const reader = new OperationReader();
    for (const [index, ndjson] of histories.values.entries()) {
      const read = await readInTurns(reader, ndjson);
      const node = histories.names[index] ?? "unknown";
      const { dropped = 0, inFlight = 0 } = stats.values.find((stat) => stat.node === node) ?? {};
      // A purchase that is still running is one the history does not have.
      const history = { node, operations: read.length, dropped: dropped + inFlight, ndjson };
      await store.saveHistory(document.id, history);
      for (const op of read) ops.push(op);
    }
    // What a silent node recorded is lost; how much that is nobody knows, and one is enough to say so.
    for (const node of silentNodes.filter((name) => !histories.names.includes(name))) {
      await store.saveHistory(document.id, { node, operations: 0, dropped: 1, ndjson: "" });
    }
    await returnUnsold(document.target);
    const database = await store.readRunEnd(document.id, document.target);
    const { drift, counterUnread } = await this.readDrift(document.id);
    const dropped = stats.values.reduce((sum, node) => sum + node.dropped, 0);
    const stillRunning = stats.values.reduce((sum, node) => sum + node.inFlight, 0);
    const isComplete = silentNodes.length === 0 && dropped === 0 && stillRunning === 0;
    const facts = { stats: stats.values, ops, database, drift, isComplete };
    const history = historyOf(document, facts);
    await runChecksYielding(history);
    const unservedWaiters = livenessOf(history).count;
    const caveats: Caveats = { ...noCaveats, counterUnread, silentNodes, dropped, stillRunning, unservedWaiters };
    return { measured: measure(document, facts, history), caveats };
  }

  /** Asks one node after the other: any can read the counter, and a node that is silent is a caveat of its own. */
  private async readDrift(id: string): Promise<{ drift: StockDrift | null; counterUnread: string | null }> {
    let counterUnread: string | null = null;
    for (const node of this.options.nodes) {
      try {
        return { drift: await node.drift(id), counterUnread: null };
      } catch (error) {
        counterUnread = (error as Error).message;
      }
    }
    return { drift: null, counterUnread };
  }

  /** Waits until no purchase is in flight on any node, at most as long as a purchase may take. */
  private async drain(document: RunDocument): Promise<Settled<NodeRunStats>> {
    const { waitTimeoutMs, holdMs } = document.config;
    const giveUpAtMs = performance.now() + waitTimeoutMs + holdMs + 5_000;
    for (;;) {
      const stats = await settleByNode(this.options.nodes, (node) => node.stats(document.id));
      const busy = stats.values.some((node) => node.inFlight > 0);
      if (!busy || performance.now() > giveUpAtMs) return stats;
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    }
  }
}

interface Settled<T> {
  readonly names: readonly string[];
  readonly values: readonly T[];
  readonly silent: readonly string[];
}

async function settleByNode<T>(
  nodes: readonly NodeClient[],
  ask: (node: NodeClient) => Promise<T>,
): Promise<Settled<T>> {
  const answers = await Promise.allSettled(nodes.map(ask));
  const names: string[] = [];
  const values: T[] = [];
  const silent: string[] = [];
  for (const [index, answer] of answers.entries()) {
    const name = nodes[index]?.address.name ?? `node ${index + 1}`;
    if (answer.status === "rejected") silent.push(name);
    else {
      names.push(name);
      values.push(answer.value);
    }
  }
  return { names, values, silent };
}
