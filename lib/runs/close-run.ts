import { setTimeout as delay } from "node:timers/promises";
import { livenessOf } from "../history/check-history";
import { type Finding, isDoubt } from "../history/finding";
import type { NodeRunStats } from "../node/purchase-meter";
import { figuresOf, recordedOperations } from "../node/recorded-figures";
import { log } from "../services/log";
import type { CheckedRun, CheckedRuns } from "./checked-runs";
import type { RunDocument } from "./document";
import { piecesOf } from "./history-export";
import { measureRun } from "./measure-run";
import { callNodes, type NodeAnswers } from "./node-answers";
import type { NodeClient } from "./node-client";
import { countLines, type NodeHistory, saveHistory } from "./node-history";
import { withProvenFaults } from "./proven-faults";
import { saveClosingOrders } from "./run-store";
import { returnUnsold } from "./run-target";
import { keepsCounter, readSettledEnd } from "./settled-end";

const DRAIN_POLL_MS = 50;
/** Time for a purchase to be answered beyond its wait and its work. */
const DRAIN_SLACK_MS = 5_000;

/** Reasons why a run proves nothing that its history and its document do not show. */
export interface Caveats {
  /** Operations that the recorders dropped because their buffers were full. */
  readonly dropped: number;
  /** Nodes that did not answer when the run was closed. */
  readonly silentNodes: readonly string[];
  /** Nodes whose process ended during the run before it could keep all its operations. */
  readonly killedNodes: readonly string[];
  /** Purchases in flight when the lab stopped waiting for them. */
  readonly stillRunning: number;
  /** Why a stock counter outside PostgreSQL proves nothing; null if it does, or there is none. */
  readonly counterUnread: string | null;
}

/** A run whose load is over and whose history has been checked. It only lacks the client's report. */
export interface ClosedRun {
  /** Measured, with the latencies of the nodes. */
  readonly document: RunDocument;
  readonly caveats: Caveats;
  /** What the checks of the history say against a safe verdict. */
  readonly doubts: readonly Finding[];
  /** Waiters that were not served in time after a fault. */
  readonly unservedWaiters: number;
}

export interface Closing {
  readonly nodes: readonly NodeClient[];
  readonly checks: CheckedRuns;
  /** Absent: `SETTLE_LIMIT_MS`. */
  readonly settleLimitMs?: number | undefined;
}

/** What the nodes report of a run whose load is over. */
export interface CollectedRun {
  readonly stats: NodeAnswers<NodeRunStats>;
  readonly fetched: NodeAnswers<string>;
  /** Nodes that did not answer every call. */
  readonly silent: readonly string[];
}

/** Ends the run on every node, and fetches each node's history. Needs no PostgreSQL. */
export async function collectRun(document: RunDocument, nodes: readonly NodeClient[]): Promise<CollectedRun> {
  const { id } = document;
  const closed = await callNodes(nodes, (node) => node.close(id));
  const stats = await drain(document, nodes);
  const fetched = await callNodes(nodes, (node) => node.history(id));
  return { stats, fetched, silent: [...new Set([...closed.silent, ...stats.silent, ...fetched.silent])] };
}

/** Stores each node's history, checks the run once, and measures it. */
export async function closeRun(
  document: RunDocument,
  collectedNow: CollectedRun,
  { nodes, checks, settleLimitMs }: Closing,
): Promise<ClosedRun> {
  const { id, target } = document;
  const { stats, fetched, silent } = collectedNow;
  const histories: NodeHistory[] = [];
  for (const history of historiesOf(collectedNow)) {
    histories.push(await saveHistory(id, history));
  }
  await returnUnsold(target);
  const { database, drift, counterUnread } = await readSettledEnd(document, nodes, settleLimitMs);
  await saveClosingOrders(id, database.orders);
  await handBack(document, nodes);
  const records = { nodes: histories, ...database, counter: drift?.counter };
  const operations = histories.reduce((sum, history) => sum + history.operations, 0);
  const checked = await checks.checkClosed({ id, operations, history: piecesOf(document, records) });
  // An earlier attempt to close the run may have collected what a silent node recorded.
  const collected = histories.filter((history) => fetched.silent.includes(history.node) && history.operations > 0);
  const silentNodes = silent.filter((name) => !collected.some(({ node }) => node === name));
  const nodeStats = [
    ...stats.answers.map(({ value }) => value),
    ...collected.filter(({ node }) => stats.silent.includes(node)).map((history) => statsOf(id, history)),
  ];
  const caveats = {
    dropped: nodeStats.reduce((sum, node) => sum + node.dropped, 0),
    silentNodes,
    killedNodes: nodeStats.filter(({ incompleteInstances }) => incompleteInstances > 0).map(({ node }) => node),
    stillRunning: nodeStats.reduce((sum, node) => sum + node.inFlight, 0),
    counterUnread,
  };
  const proven = withProvenFaults(document, checked.parsed.history);
  return closedRun(measureRun(proven, { stats: nodeStats, database, drift }, checked), caveats, checked);
}

/** True for a run that is closed and waits for the client's report. */
export function isClosed({ status, histograms }: RunDocument): boolean {
  return status === "running" && histograms !== undefined;
}

/** Restores a closed run from the database, for example after the dashboard restarted. No node is called. */
export async function restoreClosedRun(document: RunDocument, checks: CheckedRuns): Promise<ClosedRun> {
  const checked = await checks.of(document);
  const isUnread = keepsCounter(document.strategy) && document.stock.counter === undefined;
  const caveats = {
    // Includes the operations of silent nodes and of purchases that were in flight.
    dropped: checked.parsed.end?.dropped ?? 0,
    silentNodes: [],
    killedNodes: [],
    stillRunning: 0,
    counterUnread: isUnread ? "the lab restarted after it had read the counter, and did not find it settled" : null,
  };
  return closedRun(document, caveats, checked);
}

/** Adds what the checks of the history say against a safe verdict. */
export function closedRun(document: RunDocument, caveats: Caveats, { parsed, report }: CheckedRun): ClosedRun {
  const doubts = report.findings.filter(isDoubt);
  return { document, caveats, doubts, unservedWaiters: livenessOf(parsed.history).count };
}

function historiesOf({ fetched, stats, silent }: CollectedRun): NodeHistory[] {
  const histories = fetched.answers.map(({ node, value: ndjson }) => {
    const { value } = stats.answers.find((answer) => answer.node === node) ?? {};
    const { dropped = 0, inFlight = 0, incompleteInstances = 0 } = value ?? {};
    // A purchase that is still in flight is missing from the history, like a dropped operation. What a killed process lost is
    // not known: one dropped operation says that some may be missing.
    return { node, operations: countLines(ndjson), dropped: dropped + inFlight + incompleteInstances, ndjson };
  });
  const missing = silent.filter((name) => !histories.some(({ node }) => node === name));
  // How many operations a silent node recorded is not known. One dropped operation is enough to say that some are missing.
  return [...histories, ...missing.map((node) => ({ node, operations: 0, dropped: 1, ndjson: "" }))];
}

/** The figures of a node that did not answer, from the history that was collected from it before. */
function statsOf(runId: string, { node, operations, dropped, ndjson }: NodeHistory): NodeRunStats {
  const figures = figuresOf(recordedOperations(ndjson));
  const { counts, peakInFlight } = figures;
  const ended = { inFlight: 0, waiters: 0, recorded: operations, dropped, incompleteInstances: 0 };
  return { node, runId, counts, peakInFlight, ...ended, histograms: figures.encode() };
}

/** Best effort: what a node cannot hand back now, its reconciliation corrects within 30 s. */
async function handBack({ id, strategy }: RunDocument, nodes: readonly NodeClient[]): Promise<void> {
  for (const node of keepsCounter(strategy) ? nodes : []) {
    const failure = await node.handBack(id).catch((error: Error) => error);
    if (failure === undefined) return;
    log().warn({ runId: id, reason: failure.message }, "the run's stock counter could not be handed back");
  }
}

/** Waits until no purchase is in flight on any node, at most as long as one purchase may take. */
async function drain({ id, config }: RunDocument, nodes: readonly NodeClient[]): Promise<NodeAnswers<NodeRunStats>> {
  const deadlineMs = performance.now() + config.waitTimeoutMs + config.holdMs + DRAIN_SLACK_MS;
  for (;;) {
    const stats = await callNodes(nodes, (node) => node.stats(id));
    const isBusy = stats.answers.some(({ value }) => value.inFlight > 0);
    if (!isBusy || performance.now() > deadlineMs) return stats;
    await delay(DRAIN_POLL_MS);
  }
}
