import { type History, type HistoryFacts, makeHistory } from "../history";
import { readOperations } from "../operation";
import type { HistoryOpLine, HistoryOrder } from "../types";

let lastId = 0;

/** Times can be numbers. A step without a time did not happen. */
export type OpFields = {
  readonly [K in keyof HistoryOpLine]?: K extends `${string}Ns` | "fencingToken" ? number | string : HistoryOpLine[K];
};

/** A purchase of one unit by a new buyer. */
export function op(fields: OpFields = {}): HistoryOpLine {
  lastId += 1;
  const base = { type: "op", opId: `op-${lastId}`, node: "node-1", host: "h", buyerId: `buyer-${lastId}` } as const;
  const strings = Object.entries(fields).map(([name, value]) => {
    const isString = name.endsWith("Ns") || name === "fencingToken";
    return [name, isString && value !== undefined ? String(value) : value] as const;
  });
  const line = { ...base, quantity: 1, invokedNs: "0", outcome: "sold", ...Object.fromEntries(strings) };
  return line as HistoryOpLine;
}

/** The row that a correct purchase creates. */
export function rowOf(line: HistoryOpLine, orderId = `order-of-${line.opId}`): HistoryOrder {
  return { orderId, opId: line.opId, buyerId: line.buyerId, quantity: line.quantity };
}

export interface HistoryOptions extends Partial<Omit<HistoryFacts, "ops" | "run">> {
  readonly ops?: readonly HistoryOpLine[];
  readonly run?: Partial<NonNullable<HistoryFacts["run"]>> | null;
}

/** A complete history in which each sold purchase has its row and the stock matches, except for the given facts. */
export function history({ ops = [], run, end, faults = [], isComplete = true }: HistoryOptions = {}): History {
  const initial = run?.initial ?? 100;
  const orders = ops.filter((line) => line.outcome === "sold").map((line) => rowOf(line));
  const ordered = orders.reduce((sum, { quantity }) => sum + quantity, 0);
  return makeHistory({
    run: run === null ? null : { initial, limitPerBuyer: null, ...run },
    ops: readOperations(ops),
    faults,
    end: end === undefined ? { final: initial - ordered, orders } : end,
    isComplete,
  });
}

export const sentencesOf = ({ findings }: { readonly findings: readonly { readonly sentence: string }[] }) =>
  findings.map(({ sentence }) => sentence);
