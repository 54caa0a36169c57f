import type { CounterQueries } from "./counter-queries";
import type { RedisCounter } from "./redis-counter";
import { type JournalEntry, returnOf } from "./redis-journal";
import type { ReconcileOptions, Reconciliation, StockDrift } from "./types";

/** Longer than any purchase. An older entry without an order will never get one. */
export const SETTLED_BY_MS = 60_000;

/** Compares counter and row without changing either. Exact only while no purchase is running. */
export async function readDrift(counter: RedisCounter, queries: CounterQueries): Promise<StockDrift> {
  const { left, journal } = await counter.snapshot();
  const stock = await queries.stock(counter.target);
  return { counter: left, stock, pending: unitsOf(journal), drift: left === null ? 0 : left - stock };
}

/**
 * Settles journal entries left by crashes and lost replies. An entry whose order is in PostgreSQL is removed. An entry without an
 * order gives its units back. Announced returns go back to the counter if their order was ended. If the journal is then empty,
 * the counter is set to the row's stock.
 *
 * Safe during sales and on several nodes at once: one atomic step settles an entry, entries younger than `olderThanMs` are
 * left alone, and the counter is corrected only if it has not changed since it was read.
 */
export async function reconcile(
  counter: RedisCounter,
  queries: CounterQueries,
  { olderThanMs = SETTLED_BY_MS, isDead = () => false, journalOnly = false }: ReconcileOptions,
): Promise<Reconciliation> {
  const { journal, atEpochMs } = await counter.snapshot();
  const old = journal.filter(
    (entry) => atEpochMs - entry.takenAtEpochMs >= olderThanMs || isDead(returnOf(entry)?.opId ?? entry.opId),
  );
  const isCompleted = await findCompleted(counter, queries, old);
  let kept = 0;
  let givenBack = 0;
  for (const entry of old) {
    if (isCompleted(entry)) {
      await counter.removeEntry(entry.opId);
      kept += entry.quantity;
    } else if (await counter.giveBack(entry, "remove_buyer")) givenBack += entry.quantity;
  }
  const pending = unitsOf(journal) - unitsOf(old);
  return { kept, givenBack, pending, corrected: journalOnly ? 0 : await correct(counter, queries) };
}

/** Returns whether an entry needs no change of the counter: its order exists, or its return did not happen. */
async function findCompleted(
  counter: RedisCounter,
  queries: CounterQueries,
  entries: readonly JournalEntry[],
): Promise<(entry: JournalEntry) => boolean> {
  const takes = entries.filter((entry) => returnOf(entry) === null).map(({ opId }) => opId);
  const returns = entries.flatMap((entry) => returnOf(entry) ?? []);
  const ordered = await queries.withOrder(counter.target, takes);
  const ended = await queries.endedBy(counter.target, returns);
  return (entry) => {
    const announced = returnOf(entry);
    return announced ? !ended.has(announced.orderId) : ordered.has(entry.opId);
  };
}

export function unitsOf(entries: readonly JournalEntry[]): number {
  return entries.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** @returns the change of the counter */
async function correct(counter: RedisCounter, queries: CounterQueries): Promise<number> {
  const { left, journal } = await counter.snapshot();
  if (left === null || journal.length > 0) return 0;
  const stock = await queries.stock(counter.target);
  if (stock === left || !(await counter.correct(left, stock))) return 0;
  return stock - left;
}
