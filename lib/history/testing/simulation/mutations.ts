import type { ViolationKind } from "../../finding";
import type { HistoryEndLine, HistoryOpLine, HistoryOrder } from "../../types";
import type { Mutable, Sale, SeededRandom } from "./sale";

/** Introduces one violation into a correct history. */
export interface Mutation {
  readonly name: string;
  /** The checkers must find at least one of these kinds. */
  readonly expectedKinds: readonly ViolationKind[];
  /** @returns false if the mutation does not apply to this sale */
  readonly apply: (sale: Sale, random: SeededRandom) => boolean;
}

export type Op = Mutable<HistoryOpLine>;

export const opsWith = (sale: Sale, test: (op: HistoryOpLine) => boolean) => sale.ops.filter(test) as Op[];
const rowOf = (sale: Sale, op: HistoryOpLine) => sale.end.orders.find((order) => order.opId === op.opId);
const pick = <T>(random: SeededRandom, all: readonly T[]): T | undefined => all[random.between(0, all.length - 1)];

function setRows(sale: Sale, orders: readonly HistoryOrder[]): void {
  (sale.end as Mutable<HistoryEndLine>).orders = orders;
}

function mutateStock(by: (sale: Sale) => number): Mutation["apply"] {
  return (sale) => {
    (sale.end as Mutable<HistoryEndLine>).final += by(sale);
    return true;
  };
}

/** Applies `act` to one random operation that passes `test`. */
export function mutateOne(test: (op: HistoryOpLine) => boolean, act: (op: Op, sale: Sale) => void): Mutation["apply"] {
  return (sale, random) => {
    const op = pick(random, opsWith(sale, test));
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

/** Mutations of rows and stock, for every kind of sale. */
export const ROW_MUTATIONS: readonly Mutation[] = [
  { name: "a unit vanishes", expectedKinds: ["undersold"], apply: mutateStock(() => -1) },
  { name: "a decrement is lost", expectedKinds: ["lostUpdates"], apply: mutateStock(() => 1) },
  {
    name: "the stock ends below zero",
    expectedKinds: ["negativeStock"],
    apply: mutateStock(({ end }) => -end.final - 1),
  },
  {
    name: "an acknowledged order is missing",
    expectedKinds: ["acknowledgedRows"],
    apply: mutateOne(isSold, (op, sale) =>
      setRows(
        sale,
        sale.end.orders.filter((order) => order.opId !== op.opId),
      ),
    ),
  },
  {
    name: "an acknowledged purchase has a second order",
    expectedKinds: ["acknowledgedRows"],
    apply: mutateOne(isSold, addRow),
  },
  {
    name: "an order has another buyer",
    expectedKinds: ["acknowledgedRows"],
    apply: mutateOne(isSold, (op, sale) =>
      setRows(
        sale,
        sale.end.orders.map((order) => (order.opId === op.opId ? { ...order, buyerId: "eve" } : order)),
      ),
    ),
  },
  {
    name: "two answers name one order",
    expectedKinds: ["acknowledgedRows"],
    apply: (sale, random) => {
      const [first, second] = opsWith(sale, isSold);
      if (!first || !second) return false;
      const [wrong, other] = random.chance(0.5) ? [first, second] : [second, first];
      wrong.orderId = other.orderId as string;
      return true;
    },
  },
  { name: "a refused purchase has an order", expectedKinds: ["refusedRows"], apply: mutateOne(isRefused, addRow) },
  {
    name: "a purchase of unknown outcome has two orders",
    expectedKinds: ["unknownRows"],
    apply: mutateOne(
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
    name: "an order has no purchase",
    expectedKinds: ["strayRows"],
    apply: (sale) => {
      setRows(sale, [...sale.end.orders, { orderId: "stray", opId: "op-unknown", buyerId: "eve", quantity: 1 }]);
      return true;
    },
  },
  {
    name: "more units are sold than were in stock",
    expectedKinds: ["oversold"],
    apply: mutateOne(isSold, (op, sale) => {
      const quantity = sale.run.initial + 1;
      setRows(sale, [...sale.end.orders, { orderId: "too-much", opId: op.opId, buyerId: op.buyerId, quantity }]);
    }),
  },
  {
    name: "a buyer exceeds the limit",
    expectedKinds: ["duplicateClaims"],
    apply: (sale) => {
      (sale.run as Mutable<Sale["run"]>).limitPerBuyer = 1;
      const [first, second] = sale.end.orders;
      if (!first || !second) return false;
      setRows(sale, [first, { ...second, buyerId: first.buyerId }, ...sale.end.orders.slice(2)]);
      return true;
    },
  },
];
