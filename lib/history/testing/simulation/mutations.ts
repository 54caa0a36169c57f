import type { ViolationKind } from "../../finding";
import type { HistoryEndLine, HistoryOpLine, HistoryOrder } from "../../types";
import type { Mutable, Sale, SeededRandom } from "./sale";

/** One wrong done to a history that had none. */
export interface Mutation {
  readonly name: string;
  /** Kinds of which at least one must be found. */
  readonly shows: readonly ViolationKind[];
  /** @returns false when this sale offers nothing to do it to */
  readonly apply: (sale: Sale, dice: SeededRandom) => boolean;
}

export type Op = Mutable<HistoryOpLine>;

export const opsWith = (sale: Sale, test: (op: HistoryOpLine) => boolean) => sale.ops.filter(test) as Op[];
const rowOf = (sale: Sale, op: HistoryOpLine) => sale.end.orders.find((order) => order.opId === op.opId);
const pick = <T>(dice: SeededRandom, all: readonly T[]): T | undefined => all[dice.between(0, all.length - 1)];

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
export function toOne(test: (op: HistoryOpLine) => boolean, act: (op: Op, sale: Sale) => void): Mutation["apply"] {
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
