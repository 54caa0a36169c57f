import type { ViolationKind } from "../../../lib/history/finding";
import type { HistoryEndLine, HistoryOpLine, HistoryOrder } from "../../../lib/history/types";
import type { Dice, Mutable, Sale } from "./sale";

/** One wrong done to a history that had none. */
export interface Mutation {
  readonly name: string;
  /** Kinds of which at least one must be found. */
  readonly shows: readonly ViolationKind[];
  /** @returns false when this sale offers nothing to do it to */
  readonly apply: (sale: Sale, dice: Dice) => boolean;
}

type Op = Mutable<HistoryOpLine>;

const opsWith = (sale: Sale, test: (op: HistoryOpLine) => boolean) => sale.ops.filter(test) as Op[];
const rowOf = (sale: Sale, op: HistoryOpLine) => sale.end.orders.find((order) => order.opId === op.opId);
const pick = <T>(dice: Dice, all: readonly T[]): T | undefined => all[dice.between(0, all.length - 1)];
const later = (text: string | undefined, byNs: number) => (BigInt(text ?? 0) + BigInt(byNs)).toString();

function setRows(sale: Sale, orders: readonly HistoryOrder[]): void {
  (sale.end as Mutable<HistoryEndLine>).orders = orders;
}

function toStock(by: (sale: Sale) => number): Mutation["apply"] {
  return (sale) => {
    (sale.end as Mutable<HistoryEndLine>).final += by(sale);
    return true;
  };
}

/** Does something to one operation that fits, if there is one. */
function toOne(test: (op: HistoryOpLine) => boolean, act: (op: Op, sale: Sale) => void): Mutation["apply"] {
  return (sale, dice) => {
    const op = pick(dice, opsWith(sale, test));
    if (op) act(op, sale);
    return op !== undefined;
  };
}

const addRow = (op: Op, sale: Sale) =>
  setRows(sale, [
    ...sale.end.orders,
    { orderId: `extra-${op.opId}`, opId: op.opId, buyerId: op.buyerId, quantity: op.quantity },
  ]);
const isSold = (op: HistoryOpLine) => op.outcome === "sold";
const isRefused = (op: HistoryOpLine) => !["sold", "unknown"].includes(op.outcome);

/** What can be done to the rows and to the stock, whatever sold them. */
export const ROW_MUTATIONS: readonly Mutation[] = [
  { name: "a unit vanishes", shows: ["undersold"], apply: toStock(() => -1) },
  { name: "a decrement is lost", shows: ["lostUpdates"], apply: toStock(() => 1) },
  {
    name: "the stock ends below zero",
    shows: ["negativeStock"],
    apply: toStock(({ end }) => -end.final - 1),
  },
  {
    name: "an acknowledged order is gone",
    shows: ["acknowledgedRows"],
    apply: toOne(isSold, (op, sale) =>
      setRows(
        sale,
        sale.end.orders.filter((order) => order.opId !== op.opId),
      ),
    ),
  },
  { name: "an acknowledged purchase has a second order", shows: ["acknowledgedRows"], apply: toOne(isSold, addRow) },
  {
    name: "an order is in another's name",
    shows: ["acknowledgedRows"],
    apply: toOne(isSold, (op, sale) =>
      setRows(
        sale,
        sale.end.orders.map((order) => (order.opId === op.opId ? { ...order, buyerId: "eve" } : order)),
      ),
    ),
  },
  {
    name: "two buyers are told of one order",
    shows: ["acknowledgedRows"],
    apply: (sale, dice) => {
      const [first, second] = opsWith(sale, isSold);
      if (!first || !second) return false;
      const [told, other] = dice.chance(0.5) ? [first, second] : [second, first];
      told.orderId = other.orderId as string;
      return true;
    },
  },
  { name: "a refused purchase has an order", shows: ["refusedRows"], apply: toOne(isRefused, addRow) },
  {
    name: "a purchase of unknown outcome has two orders",
    shows: ["unknownRows"],
    apply: toOne(
      (op) => op.outcome === "unknown",
      (op, sale) => {
        if (!rowOf(sale, op)) addRow(op, sale);
        setRows(sale, [
          ...sale.end.orders,
          { orderId: "twin", opId: op.opId, buyerId: op.buyerId, quantity: op.quantity },
        ]);
      },
    ),
  },
  {
    name: "there is an order that nobody asked for",
    shows: ["strayRows"],
    apply: (sale) => {
      setRows(sale, [...sale.end.orders, { orderId: "stray", opId: "nobody", buyerId: "eve", quantity: 1 }]);
      return true;
    },
  },
  {
    name: "more is sold than there was",
    shows: ["oversold"],
    apply: toOne(isSold, (op, sale) => {
      const quantity = sale.run.initial + 1;
      setRows(sale, [...sale.end.orders, { orderId: "too-much", opId: op.opId, buyerId: op.buyerId, quantity }]);
    }),
  },
  {
    name: "a buyer goes over the limit",
    shows: ["duplicateClaims"],
    apply: (sale) => {
      (sale.run as Mutable<Sale["run"]>).limitPerBuyer = 1;
      const [first, second] = sale.end.orders;
      if (!first || !second) return false;
      setRows(sale, [first, { ...second, buyerId: first.buyerId }, ...sale.end.orders.slice(2)]);
      return true;
    },
  },
];

/** What can be done to times, for a counter: it must show in the tickets. */
export const TICKET_MUTATIONS: readonly Mutation[] = [
  {
    name: "somebody is told sold out before anybody came",
    shows: ["ticketOrder"],
    apply: (sale) => {
      if (sale.run.initial === 0) return false;
      sale.ops.push({ ...visitor(sale, "early"), outcome: "sold_out", invokedNs: "0", answeredNs: "0" });
      for (const op of sale.ops as Op[]) if (op.opId !== "early") shift(op, 1);
      return true;
    },
  },
  {
    name: "a unit is sold after everything was",
    shows: ["ticketOrder"],
    apply: (sale) => {
      if (sale.ops.some((op) => op.outcome === "error" || op.outcome === "unknown")) return false;
      const end = sale.ops.reduce((last, op) => Math.max(last, Number(op.answeredNs ?? 0)), 0);
      const [toldAt, soldAt] = [end + 1, end + 3];
      const refused = { ...visitor(sale, "told"), outcome: "sold_out", quantity: 1 } as const;
      sale.ops.push({ ...refused, invokedNs: String(toldAt), answeredNs: String(toldAt) });
      sale.ops.push({ ...visitor(sale, "late"), invokedNs: String(soldAt), answeredNs: String(soldAt + 1) });
      return true;
    },
  },
];

function visitor(sale: Sale, opId: string): HistoryOpLine {
  const node = sale.ops[0]?.node ?? "node-1";
  const host = sale.ops[0]?.host ?? "host-1";
  return { type: "op", opId, node, host, buyerId: opId, quantity: 1, invokedNs: "0", outcome: "sold" };
}

function shift(op: Op, byNs: number): void {
  for (const field of Object.keys(op) as (keyof HistoryOpLine)[]) {
    if (field.endsWith("Ns")) Object.assign(op, { [field]: later(op[field] as string, byNs) });
  }
}

/** What can be done to the holds of a lock without tokens. Times are left in order, so that only the wrong is wrong. */
export const HOLD_MUTATIONS: readonly Mutation[] = [
  {
    name: "a holder stays inside while the next enters",
    shows: ["overlappingHolds"],
    apply: (sale) => {
      const [first, second] = holdsInOrder(sale);
      if (!first || !second) return false;
      const end = later(second.grantedNs, 1);
      for (const field of ["releasedNs", "answeredNs"] as const) {
        if (BigInt(first[field] ?? 0) < BigInt(end)) first[field] = end;
      }
      stretch(second, end);
      return true;
    },
  },
  {
    name: "a holder writes after it learned that its lease was lost",
    shows: ["staleWrites"],
    apply: toOne(
      (op) => op.writeAccepted === true && BigInt(op.writeNs ?? 0) > BigInt(op.grantedNs ?? 0),
      (op) => {
        op.leaseLostNs = op.grantedNs as string;
      },
    ),
  },
  {
    name: "two holders write from one value",
    shows: ["lostUpdates"],
    apply: (sale) => {
      const [first, second] = holdsInOrder(sale).filter((op) => op.writeAccepted);
      if (!first || !second || first.readValue === undefined) return false;
      second.readValue = first.readValue;
      second.writtenValue = first.readValue - second.quantity;
      return true;
    },
  },
];

/** What can be done to the fencing tokens of a lock that has them. */
export const TOKEN_MUTATIONS: readonly Mutation[] = [
  {
    name: "a token is granted twice",
    shows: ["fencingOrder"],
    apply: (sale) => {
      const [first, second] = holdsInOrder(sale);
      if (!first || !second || first.grantedNs === second.grantedNs) return false;
      second.fencingToken = first.fencingToken as string;
      return true;
    },
  },
  {
    name: "tokens start again from nothing",
    shows: ["fencingOrder"],
    apply: (sale) => {
      const last = holdsInOrder(sale).at(-1);
      const before = holdsInOrder(sale).at(-2);
      if (!last || !before || last.grantedNs === before.grantedNs) return false;
      last.fencingToken = "0";
      return true;
    },
  },
  {
    name: "a stale write is accepted",
    shows: ["staleWrites"],
    apply: (sale) => {
      const holds = holdsInOrder(sale);
      const newer = holds.find((op, index) => index > 0 && op.readNs !== undefined);
      const older = newer && holds.find((op) => BigInt(op.fencingToken ?? 0) < BigInt(newer.fencingToken ?? 0));
      if (!newer || !older) return false;
      const writeNs = later(newer.readNs, 1);
      Object.assign(older, { writeNs, writtenValue: 0, readValue: 1, readNs: older.grantedNs, writeAccepted: true });
      stretch(older, later(writeNs, 1));
      return true;
    },
  },
];

function holdsInOrder(sale: Sale): Op[] {
  const holds = opsWith(sale, (op) => op.grantedNs !== undefined);
  return holds.sort((a, b) => (BigInt(a.grantedNs ?? 0) < BigInt(b.grantedNs ?? 0) ? -1 : 1));
}

/** Moves what comes last in a hold behind `end`, in its order. */
function stretch(op: Op, end: string): void {
  for (const field of ["committedNs", "releasedNs", "answeredNs"] as const) {
    const at = op[field];
    if (at !== undefined && BigInt(at) < BigInt(end)) op[field] = end;
  }
}
