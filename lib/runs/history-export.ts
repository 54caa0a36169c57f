import type { HistoryEndLine, HistoryRunLine } from "../history/types";
import { resourceOf } from "../stock/types";
import type { RunDocument } from "./document";
import { readHistories, readRunOrders } from "./run-store";

/**
 * The history of an ended run, as lines: the run, the nodes' operations, the end. The orders of the end line are read
 * from the database, not from the recorder.
 */
export async function* historyLines(document: RunDocument): AsyncGenerator<string> {
  const { id, strategy, target, stock } = document;
  const head: HistoryRunLine = {
    type: "run",
    runId: id,
    strategy,
    resource: resourceOf(target),
    initial: stock.initial,
    limitPerBuyer: target.kind === "coupon" ? 1 : null,
    hosts: 1,
  };
  yield `${JSON.stringify(head)}\n`;
  const histories = await readHistories(id);
  for (const history of histories) yield history.ndjson;
  const end: HistoryEndLine = {
    type: "end",
    final: stock.final,
    orders: await readRunOrders(id, target.kind),
    dropped: histories.reduce((sum, history) => sum + history.dropped, 0),
  };
  yield `${JSON.stringify(end)}\n`;
}
