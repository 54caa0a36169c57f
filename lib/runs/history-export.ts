import type { HistoryEndLine, HistoryFaultLine, HistoryOrder, HistoryRunLine } from "../history/types";
import { resourceOf } from "../stock/types";
import type { RunDocument } from "./document";
import { limitPerBuyer } from "./measure-run";
import { readHistories, readRunOrders } from "./run-store";

/** Orders that are written in one piece: a line with all of a run's is too long to be made in one go. */
const ORDERS_A_PIECE = 5_000;

/** The history of an ended run, as pieces of a file (docs/history-format.md). */
export async function* historyLines(document: RunDocument): AsyncGenerator<string> {
  for await (const piece of historyPieces(document)) {
    if (typeof piece === "string") yield piece;
    else yield* endLine(piece);
  }
}

/**
 * The history of an ended run: the run, the nodes' operations as they are stored, and the end, which is not text yet. Its
 * orders are read from the database, not from the recorder.
 */
export async function* historyPieces(document: RunDocument): AsyncGenerator<string | HistoryEndLine> {
  const { id, strategy, target, stock, config } = document;
  const head: HistoryRunLine = {
    type: "run",
    runId: id,
    strategy,
    resource: resourceOf(target),
    initial: stock.initial,
    limitPerBuyer: limitPerBuyer(document),
    hosts: 1,
    ...(config.fencing === undefined ? {} : { fencing: config.fencing }),
  };
  yield `${JSON.stringify(head)}\n`;
  for (const fault of document.faults) {
    const line: HistoryFaultLine = { type: "fault", ...fault };
    yield `${JSON.stringify(line)}\n`;
  }
  const histories = await readHistories(id);
  for (const history of histories) yield history.ndjson;
  yield {
    type: "end",
    final: stock.final,
    ...(stock.counter === undefined ? {} : { counter: stock.counter }),
    orders: firstUnits(await readRunOrders(id, target.kind), stock.orders),
    dropped: histories.reduce((sum, history) => sum + history.dropped, 0),
  };
}

function* endLine({ orders, ...end }: HistoryEndLine): Generator<string> {
  const { dropped, ...before } = end;
  yield `${JSON.stringify(before).slice(0, -1)},"orders":[`;
  for (let from = 0; from < orders.length; from += ORDERS_A_PIECE) {
    const piece = JSON.stringify(orders.slice(from, from + ORDERS_A_PIECE)).slice(1, -1);
    yield from === 0 ? piece : `,${piece}`;
  }
  yield `],"dropped":${dropped}}\n`;
}

/** The rows that were there when the run was closed: a purchase still running then may have added one since. */
function firstUnits(orders: readonly HistoryOrder[], units: number): HistoryOrder[] {
  let counted = 0;
  return orders.filter(({ quantity }) => {
    counted += quantity;
    return counted <= units;
  });
}
