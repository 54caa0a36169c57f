import type { HistoryEndLine, HistoryFaultLine, HistoryOrder, HistoryRunLine } from "../history/types";
import { resourceOf } from "../stock/types";
import type { RunDocument } from "./document";
import { limitPerBuyer } from "./judge";
import { readHistories, readRunOrders } from "./run-store";

/**
 * The history of an ended run, as lines: the run, the nodes' operations, the end. The orders of the end line are read
 * from the database, not from the recorder.
 */
export async function* historyLines(document: RunDocument): AsyncGenerator<string> {
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
  const end: HistoryEndLine = {
    type: "end",
    final: stock.final,
    ...(stock.counter === undefined ? {} : { counter: stock.counter }),
    orders: firstUnits(await readRunOrders(id, target.kind), stock.orders),
    dropped: histories.reduce((sum, history) => sum + history.dropped, 0),
  };
  yield `${JSON.stringify(end)}\n`;
}

/** The rows that were there when the run was closed: a purchase still running then may have added one since. */
function firstUnits(orders: readonly HistoryOrder[], units: number): HistoryOrder[] {
  let counted = 0;
  return orders.filter(({ quantity }) => {
    counted += quantity;
    return counted <= units;
  });
}
