import type { HistoryEndLine, HistoryFaultLine, HistoryOrder, HistoryRunLine } from "../history/types";
import { resourceOf } from "../stock/types";
import type { RunDocument } from "./document";
import { type NodeHistory, readHistories } from "./node-history";
import { readClosingOrders } from "./run-store";

/** Orders per piece of text: the line with all orders of a long run is too long to build in one go. */
const ORDERS_PER_PIECE = 5_000;

/** The history of an ended run, as pieces of a file (docs/history-format.md). */
export async function* historyLines(document: RunDocument): AsyncGenerator<string> {
  for await (const piece of historyPieces(document)) {
    if (typeof piece === "string") yield piece;
    else yield* endLine(piece);
  }
}

/** The stored history of a closed run. Orders come from the database, not from the recorder. */
export async function* historyPieces(document: RunDocument): AsyncGenerator<string | HistoryEndLine> {
  const { id, target, stock } = document;
  const nodes = await readHistories(id);
  const orders = await readClosingOrders(id, target.kind);
  yield* piecesOf(document, { nodes, orders, final: stock.final, counter: stock.counter });
}

export interface RunRecords {
  readonly nodes: readonly NodeHistory[];
  readonly orders: readonly HistoryOrder[];
  readonly final: number;
  /** Absent for a strategy that keeps its stock in PostgreSQL; null if the counter is gone. */
  readonly counter?: number | null | undefined;
}

/** The lines of a history: the run, its faults, the operations of each node, and the end, which is not text yet. */
export function* piecesOf(document: RunDocument, records: RunRecords): Generator<string | HistoryEndLine> {
  const { nodes, orders, final, counter } = records;
  yield `${JSON.stringify(runLine(document))}\n`;
  for (const fault of document.faults) {
    const line: HistoryFaultLine = { type: "fault", ...fault };
    yield `${JSON.stringify(line)}\n`;
  }
  for (const { ndjson } of nodes) yield ndjson;
  const dropped = nodes.reduce((sum, node) => sum + node.dropped, 0);
  const operations = nodes.reduce((sum, node) => sum + node.operations, 0);
  yield { type: "end", final, ...(counter === undefined ? {} : { counter }), operations, orders: [...orders], dropped };
}

function runLine(document: RunDocument): HistoryRunLine {
  const { id, strategy, target, stock, config } = document;
  return {
    type: "run",
    runId: id,
    strategy,
    resource: resourceOf(target),
    initial: stock.initial,
    limitPerBuyer: limitPerBuyer(document),
    hosts: 1,
    ...(config.fencing === undefined ? {} : { fencing: config.fencing }),
  };
}

/** Each buyer may claim one coupon. */
function limitPerBuyer({ target, config }: Pick<RunDocument, "target" | "config">): number | null {
  return target.kind === "coupon" ? 1 : (config.limitPerUser ?? null);
}

function* endLine({ orders, ...end }: HistoryEndLine): Generator<string> {
  const { dropped, ...before } = end;
  yield `${JSON.stringify(before).slice(0, -1)},"orders":[`;
  for (let from = 0; from < orders.length; from += ORDERS_PER_PIECE) {
    const piece = JSON.stringify(orders.slice(from, from + ORDERS_PER_PIECE)).slice(1, -1);
    yield from === 0 ? piece : `,${piece}`;
  }
  yield `],"dropped":${dropped}}\n`;
}
