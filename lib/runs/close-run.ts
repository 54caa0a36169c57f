import { livenessOf } from "../history/check-history";
import { type Finding, isDoubt } from "../history/finding";
import { log } from "../services/log";
import { keepsCounter, traitsOf } from "../stock/stock-strategies";
import type { CheckedRun, CheckedRuns } from "./checked-runs";
import { type CollectedRun, historiesOf, isIdle, type NodeCaveats, nodeReportsOf } from "./collect-run";
import type { RunDocument } from "./document";
import { piecesOf } from "./history-export";
import { measureRun } from "./measure-run";
import type { NodeClient } from "./node-client";
import { type NodeHistory, saveHistory } from "./node-history";
import { withProvenFaults } from "./proven-faults";
import { saveClosingOrders } from "./run-store";
import { returnUnsold } from "./run-target";
import { readSettledEnd } from "./settled-end";
import type { StockDatabase } from "./stock-database";

/** Reasons why a run proves nothing that its history and its document do not show. */
export interface Caveats extends NodeCaveats {
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
  /** Where the run's stock and orders are. */
  readonly stock: StockDatabase;
  /** Absent: `SETTLE_LIMIT_MS`. */
  readonly settleLimitMs?: number | undefined;
}

/** Stores each node's history, checks the run once, and measures it. */
export async function closeRun(
  document: RunDocument,
  collected: CollectedRun,
  { nodes, checks, stock, settleLimitMs }: Closing,
): Promise<ClosedRun> {
  const { id, target } = document;
  const histories: NodeHistory[] = [];
  for (const history of historiesOf(collected)) {
    histories.push(await saveHistory(id, history));
  }
  const { database, drift, counterUnread } = await stock.read(async (pool) => {
    await returnUnsold(pool, target);
    return readSettledEnd(document, nodes, { pool, isIdle: isIdle(collected), limitMs: settleLimitMs });
  });
  await saveClosingOrders(id, database.orders, stock.isSeparate);
  await handBack(document, nodes);
  const records = { nodes: histories, ...database, counter: drift?.counter };
  const operations = histories.reduce((sum, history) => sum + history.operations, 0);
  const checked = await checks.checkClosed({ id, operations, history: piecesOf(document, records) });
  const { stats, caveats } = nodeReportsOf(id, collected, histories);
  const proven = withProvenFaults(document, checked.parsed.history);
  return closedRun(measureRun(proven, { stats, database, drift }, checked), { ...caveats, counterUnread }, checked);
}

/** True for a run that is closed and waits for the client's report. */
export function isClosed({ status, histograms }: RunDocument): boolean {
  return status === "running" && histograms !== undefined;
}

/** Restores a closed run from the database, for example after the dashboard restarted. No node is called. */
export async function restoreClosedRun(document: RunDocument, checks: CheckedRuns): Promise<ClosedRun> {
  const checked = await checks.of(document);
  const isUnread = keepsCounter(traitsOf(document.strategy)) && document.stock.counter === undefined;
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

/** Best effort: what a node cannot hand back now, its reconciliation corrects within 30 s. */
async function handBack({ id, strategy }: RunDocument, nodes: readonly NodeClient[]): Promise<void> {
  for (const node of keepsCounter(traitsOf(strategy)) ? nodes : []) {
    const failure = await node.handBack(id).catch((error: Error) => error);
    if (failure === undefined) return;
    log().warn({ runId: id, reason: failure.message }, "the run's stock counter could not be handed back");
  }
}
