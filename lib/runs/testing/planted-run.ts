import type { HistoryEndLine, HistoryFaultLine, HistoryOpLine, HistoryRunLine } from "../../history/types";
import type { NodeRunStats } from "../../node/purchase-meter";
import { figuresOf } from "../../node/recorded-figures";
import { type CheckedRun, checkedRuns } from "../checked-runs";
import type { ClientReport } from "../client-report";
import { type Caveats, closedRun } from "../close-run";
import type { RunDocument } from "../document";
import { piecesOf } from "../history-export";
import { measureRun } from "../measure-run";
import { newDocument } from "../new-document";
import { runRequestSchema } from "../run-request";
import { withVerdict } from "../run-verdict";
import { clientReport } from "./run-fixture";

/** Runs made from histories by the code that closes real runs. Their evidence is in memory, so a page needs no database. */

export interface PlantedHistory {
  readonly id: string;
  readonly run: HistoryRunLine;
  readonly faults: readonly HistoryFaultLine[];
  readonly ops: readonly HistoryOpLine[];
  readonly end: HistoryEndLine;
}

/** Parses a history file. */
export function plantedHistory(id: string, ndjson: string): PlantedHistory {
  const lines = ndjson
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { type: string });
  const of = <T>(type: string) => lines.filter((line) => line.type === type) as unknown as T[];
  const [run] = of<HistoryRunLine>("run");
  const [end] = of<HistoryEndLine>("end");
  if (!run || !end) throw new Error(`history ${id} lacks its run or end line`);
  return { id, run, faults: of("fault"), ops: of("op"), end };
}

export interface Planting {
  /** Settings of the run; the history gives strategy, stock and the number of buyers. */
  readonly request?: object;
  /** Null: the generator did not report. Absent: it reports every purchase. */
  readonly client?: Partial<ClientReport> | null;
  readonly missedFaults?: RunDocument["missedFaults"];
}

/** The document of a finished run with this history. */
export async function plantRun(history: PlantedHistory, planting: Planting = {}): Promise<RunDocument> {
  const closed = await closePlanted(history, planting);
  const { client = {} } = planting;
  const { latencyMs, counts } = closed.document;
  const report = client === null ? null : clientReport({ iterations: counts.requests, latencyMs, ...client });
  return { ...withVerdict(closed, report), status: "finished" };
}

/** A run like `plantRun` makes, whose load is over and whose verdict is not drawn. */
export async function closePlanted(history: PlantedHistory, { request = {}, missedFaults }: Planting = {}) {
  const document = { ...openedRun(history, request), ...(missedFaults ? { missedFaults } : {}) };
  const { end, ops } = history;
  const names = [...new Set(ops.map(({ node }) => node))].sort();
  const nodes = names.map((node, index) => {
    const own = ops.filter((op) => op.node === node);
    const ndjson = own.map((op) => `${JSON.stringify(op)}\n`).join("");
    return { node, operations: own.length, dropped: index === 0 ? end.dropped : 0, ndjson };
  });
  const { orders, final, counter } = end;
  const pieces = piecesOf(document, { nodes, orders, final, counter });
  const checked = await checkedRuns().checkClosed({ id: history.id, operations: ops.length, history: pieces });
  const stats = names.map((node) => statsOf(document.id, node, checked));
  const drift = counter === undefined ? null : { counter, stock: final, pending: 0, drift: (counter ?? 0) - final };
  const caveats: Caveats = {
    dropped: end.dropped,
    silentNodes: [],
    killedNodes: [],
    stillRunning: 0,
    counterUnread: null,
  };
  return closedRun(measureRun(document, { stats, database: { final, orders }, drift }, checked), caveats, checked);
}

function openedRun({ id, run, faults, ops }: PlantedHistory, settings: object): RunDocument {
  const isCoupon = run.resource.startsWith("coupon");
  const request = runRequestSchema.parse({
    strategy: run.strategy,
    stock: run.initial,
    vus: Math.max(1, ops.length),
    fencing: run.fencing,
    ...settings,
  });
  const opened = newDocument({
    id,
    request,
    target: { kind: isCoupon ? "coupon" : "product", id: 1 },
    limitPerUser: isCoupon ? null : run.limitPerBuyer,
    nodes: new Set(ops.map(({ node }) => node)).size || 1,
    expected: "safe",
    versions: { lab: "planted" },
  });
  const [first] = ops;
  return {
    ...opened,
    ...(first ? { clock: { host: first.host, startedNs: first.invokedNs } } : {}),
    faults: faults.map(({ faultId, fromNs, toNs, proof }) => ({ faultId, fromNs, toNs, proof })),
  };
}

/** What the node's meter would have measured. */
function statsOf(runId: string, node: string, { parsed }: CheckedRun): NodeRunStats {
  const ops = parsed.history.ops.filter((op) => op.node === node);
  const figures = figuresOf(ops);
  const { counts, peakInFlight } = figures;
  const ended = { inFlight: 0, waiters: 0, recorded: ops.length, dropped: 0, incompleteInstances: 0 };
  return { node, runId, counts, peakInFlight, ...ended, histograms: figures.encode() };
}
