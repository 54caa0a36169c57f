import { setImmediate as turn } from "node:timers/promises";
import type { Operation, OperationReader } from "../history/operation";
import type { HistoryOpLine } from "../history/types";

/** Lines that are read before others get their turn. */
const LINES_A_TURN = 2_000;

/** The operations a node recorded (NDJSON), read piece by piece so that the dashboard goes on serving meanwhile. */
export async function readInTurns(reader: OperationReader, ndjson: string): Promise<Operation[]> {
  const ops: Operation[] = [];
  for (let from = 0; from < ndjson.length; ) {
    const newline = ndjson.indexOf("\n", from);
    const to = newline === -1 ? ndjson.length : newline;
    if (to > from) ops.push(reader.read(JSON.parse(ndjson.slice(from, to)) as HistoryOpLine));
    if (ops.length % LINES_A_TURN === 0) await turn();
    from = to + 1;
  }
  return ops;
}
