import { type History, type HistoryFacts, makeHistory } from "../history";
import { readOperations } from "../operation";
import type { HistoryOpLine, HistoryOrder } from "../types";

let made = 0;

/** Times may be given as numbers; what is not given never happened. */
export type OpFields = {
  readonly [K in keyof HistoryOpLine]?: K extends `${string}Ns` | "fencingToken" ? number | string : HistoryOpLine[K];
};

/** A purchase of one unit by a buyer of its own. */
export function op(fields: OpFields = {}): HistoryOpLine {
  made += 1;
  const base = { type: "op", opId: `op-${made}`, node: "node-1", host: "h", buyerId: `buyer-${made}` } as const;
  const texts = Object.entries(fields).map(([name, value]) => {
    const isText = name.endsWith("Ns") || name === "fencingToken";
    return [name, isText && value !== undefined ? String(value) : value] as const;
  });
  const line = { ...base, quantity: 1, invokedNs: "0", outcome: "sold", ...Object.fromEntries(texts) };
  return line as HistoryOpLine;
}

/** The row a purchase should have made. */
export function rowOf(line: HistoryOpLine, orderId = `order-of-${line.opId}`): HistoryOrder {
  return { orderId, opId: line.opId, buyerId: line.buyerId, quantity: line.quantity };
}

export interface HistoryOptions extends Partial<Omit<HistoryFacts, "ops" | "run">> {
  readonly ops?: readonly HistoryOpLine[];
  readonly run?: Partial<NonNullable<HistoryFacts["run"]>> | null;
}

/** A complete history in which every sold purchase has its row and the stock agrees, but for what is given. */
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
