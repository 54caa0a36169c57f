import type { NodeRunStats } from "../node/purchase-meter";
import { figuresOf, recordedOperations } from "../node/recorded-figures";
import type { RunDocument } from "./document";
import { longestPurchaseMs, readUntilIdle } from "./drain";
import { callNodes, type NodeAnswers } from "./node-answers";
import type { NodeClient } from "./node-client";
import { countLines, type NodeHistory } from "./node-history";

/** What the nodes report of a run whose load is over. */
export interface CollectedRun {
  readonly stats: NodeAnswers<NodeRunStats>;
  readonly fetched: NodeAnswers<string>;
  /** Nodes that did not answer every call. */
  readonly silent: readonly string[];
}

type ClosableNode = Pick<NodeClient, "address" | "close" | "stats" | "history">;

/** Ends the run on every node, and fetches each node's history. Needs no PostgreSQL. */
export async function collectRun({ id, config }: RunDocument, nodes: readonly ClosableNode[]): Promise<CollectedRun> {
  const closed = await callNodes(nodes, (node) => node.close(id));
  const stats = await readUntilIdle(
    () => callNodes(nodes, (node) => node.stats(id)),
    ({ answers }) => answers.reduce((sum, { value }) => sum + value.inFlight, 0),
    longestPurchaseMs(config),
  );
  const fetched = await callNodes(nodes, (node) => node.history(id));
  return { stats, fetched, silent: [...new Set([...closed.silent, ...stats.silent, ...fetched.silent])] };
}

/** True if every node answered every call, and no purchase of the run is in flight on any of them. */
export function isIdle({ stats, silent }: CollectedRun): boolean {
  return silent.length === 0 && stats.answers.every(({ value }) => value.inFlight === 0);
}

/**
 * The history of each node. It counts a purchase that is still in flight as dropped, because its line is missing. How many lines a
 * node lost that was killed or did not answer every call is not known: one dropped operation says that some may be missing.
 */
export function historiesOf({ fetched, stats, silent }: CollectedRun): NodeHistory[] {
  const histories = fetched.answers.map(({ node, value: ndjson }) => {
    const { value } = stats.answers.find((answer) => answer.node === node) ?? {};
    const { dropped = 0, inFlight = 0, incompleteInstances = 0 } = value ?? {};
    const unanswered = silent.includes(node) ? 1 : 0;
    return {
      node,
      operations: countLines(ndjson),
      dropped: dropped + inFlight + incompleteInstances + unanswered,
      ndjson,
    };
  });
  const missing = fetched.silent.map((node) => ({ node, operations: 0, dropped: 1, ndjson: "" }));
  return [...histories, ...missing];
}

/** Reasons on the side of the nodes why a run proves nothing. */
export interface NodeCaveats {
  /** Operations that the recorders dropped because their buffers were full. */
  readonly dropped: number;
  /** Nodes that did not answer every call, and of which no earlier attempt to close the run collected a history. */
  readonly silentNodes: readonly string[];
  /** Nodes whose process ended during the run before it could keep all its operations. */
  readonly killedNodes: readonly string[];
  /** Purchases in flight when the lab stopped waiting for them. */
  readonly stillRunning: number;
}

export interface NodeReports {
  readonly stats: readonly NodeRunStats[];
  readonly caveats: NodeCaveats;
}

/** The figures of every node. Those of a node that did not answer come from its stored history. */
export function nodeReportsOf(
  runId: string,
  { stats: { answers, silent: withoutStats }, fetched, silent }: CollectedRun,
  stored: readonly NodeHistory[],
): NodeReports {
  const earlier = stored.filter(({ node, operations }) => fetched.silent.includes(node) && operations > 0);
  const restored = earlier.filter(({ node }) => withoutStats.includes(node));
  const stats = [...answers.map(({ value }) => value), ...restored.map((history) => statsOf(runId, history))];
  const caveats = {
    dropped: stats.reduce((sum, node) => sum + node.dropped, 0),
    silentNodes: silent.filter((name) => !earlier.some(({ node }) => node === name)),
    killedNodes: stats.filter(({ incompleteInstances }) => incompleteInstances > 0).map(({ node }) => node),
    stillRunning: stats.reduce((sum, node) => sum + node.inFlight, 0),
  };
  return { stats, caveats };
}

/** The figures of a node that did not answer, from the history that was collected from it before. */
function statsOf(runId: string, { node, operations, dropped, ndjson }: NodeHistory): NodeRunStats {
  const figures = figuresOf(recordedOperations(ndjson));
  const { counts, peakInFlight } = figures;
  const ended = { inFlight: 0, waiters: 0, recorded: operations, dropped, incompleteInstances: 0 };
  return { node, runId, counts, peakInFlight, ...ended, histograms: figures.encode() };
}
