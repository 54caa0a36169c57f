import { plural } from "../../services/number-text";
import { mayGiveBack } from "../give-backs";
import type { History } from "../history";
import { byHost } from "../intervals";
import { memoize } from "../memoize";
import type { Operation } from "../operation";
import { balanceOf } from "./conservation";
import { checkLostUpdates } from "./lost-updates";

/** A recorded stock value that no order of sales and give-backs explains. */
export interface ImpossibleValue {
  readonly op: Operation;
  readonly sentence: string;
}

/**
 * Sold units never return, and a give-back returns only units that the same purchase took. So the stock is never above
 * `initial` minus the units sold before, however many units were given back. Missing lines cannot explain a higher
 * value. After a lost update the stock is too high for a known reason, so only values above `initial` count then.
 * O(n log n).
 */
export const impossibleValuesIn = memoize((history: History): readonly ImpossibleValue[] => {
  const initial = history.run?.initial;
  if (initial === undefined) return [];
  const above = aboveInitial(history, initial);
  if (checkLostUpdates(history).count > 0) return above;
  const flagged = new Set(above.map(({ op }) => op));
  const late = soldTooMuchBefore(history, initial).filter(({ op }) => !flagged.has(op));
  return [...above, ...late];
});

function aboveInitial({ ops }: History, initial: number): ImpossibleValue[] {
  return ops.flatMap((op) => {
    const { node, readValue = 0, writtenValue = 0 } = op;
    if (Math.max(readValue, writtenValue) <= initial) return [];
    const did = readValue > initial ? `read ${readValue}` : `wrote ${writtenValue}`;
    return [{ op, sentence: `${node} ${did}, but the run started with ${plural(initial, "unit")}.` }];
  });
}

/** Compares each value with the sales that were answered before its purchase was requested. */
function soldTooMuchBefore(history: History, initial: number): ImpossibleValue[] {
  const found: ImpossibleValue[] = [];
  for (const ops of byHost(history.ops).values()) {
    const sold = ops.filter((op) => op.outcome === "sold" && op.answeredNs !== undefined && history.soldOps.has(op));
    sold.sort((a, b) => (a.answeredNs ?? 0) - (b.answeredNs ?? 0));
    const seen = ops.flatMap((op) => {
      const value = highestValueBefore(op);
      return value === undefined ? [] : [{ op, value }];
    });
    seen.sort((a, b) => a.op.invokedNs - b.op.invokedNs);
    let left = initial;
    let next = 0;
    for (const { op, value } of seen) {
      for (let sale = sold[next]; sale && (sale.answeredNs ?? 0) < op.invokedNs; sale = sold[next]) {
        left -= sale.quantity;
        next += 1;
      }
      if (value <= left) continue;
      const sentence = `${op.node} saw ${value} in stock for ${op.buyerId}, but after the earlier sales at most ${left} of ${plural(initial, "unit")} could be left.`;
      found.push({ op, sentence });
      // Later values are compared with the higher stock, so that one excess gives one finding.
      left = value;
    }
  }
  return found;
}

function highestValueBefore({ readValue, writtenValue, quantity }: Operation): number | undefined {
  if (readValue === undefined) return writtenValue === undefined ? undefined : writtenValue + quantity;
  return readValue;
}

/**
 * Compares the sales' values with each other, without times. All sales that left at least `value` took no more than
 * `initial - value` units. In a complete history, all units above a sale's value were taken by sales with a higher value
 * or by purchases whose value is unknown. Finds at most one value of each kind. O(n log n).
 */
export function impossibleSalesIn(history: History): ImpossibleValue[] {
  const initial = history.run?.initial;
  if (initial === undefined || checkLostUpdates(history).count > 0) return [];
  const sales = [...history.soldOps].flatMap((op) => {
    return op.writtenValue === undefined ? [] : [{ op, left: op.writtenValue, before: op.writtenValue + op.quantity }];
  });
  const crowded = findCrowded(sales, initial);
  if (crowded) return [crowded];
  const gap = history.isComplete && !hasVanishedUnits(history) ? findGap(history, sales, initial) : null;
  return gap ? [gap] : [];
}

interface ValuedSale {
  readonly op: Operation;
  /** The stock after the sale. */
  readonly left: number;
  /** The stock before the sale. */
  readonly before: number;
}

function findCrowded(sales: readonly ValuedSale[], initial: number): ImpossibleValue | null {
  const sorted = [...sales].sort((a, b) => b.left - a.left);
  let taken = 0;
  for (const { op, left } of sorted) {
    taken += op.quantity;
    if (taken <= initial - left) continue;
    const sentence = `Sales of ${plural(taken, "unit")} left ${left} or more of ${initial} in stock; ${op.node} sold to ${op.buyerId} and left ${left}.`;
    return { op, sentence };
  }
  return null;
}

function findGap(history: History, sales: readonly ValuedSale[], initial: number): ImpossibleValue | null {
  const sorted = [...sales].sort((a, b) => b.before - a.before);
  let explained = unvaluedUnits(history);
  let higher = 0;
  for (const { op, before } of sorted) {
    for (let sale = sorted[higher]; sale && sale.before > before; sale = sorted[higher]) {
      explained += sale.op.quantity;
      higher += 1;
    }
    if (initial - before <= explained) continue;
    const sentence = `${op.node} sold to ${op.buyerId} from ${before} left, but other purchases can have taken at most ${explained} of ${plural(initial, "unit")} before.`;
    return { op, sentence };
  }
  return null;
}

/** Units of purchases that may have taken them at any value. */
function unvaluedUnits(history: History): number {
  const { ops, soldOps } = history;
  const mayTake = (op: Operation) =>
    soldOps.has(op) ? op.writtenValue === undefined : op.outcome === "unknown" || mayGiveBack(history, op);
  return ops.reduce((units, op) => units + (mayTake(op) ? op.quantity : 0), 0);
}

function hasVanishedUnits(history: History): boolean {
  const balance = balanceOf(history);
  return balance === null || balance.taken > balance.ordered;
}
