import type { CounterQueries } from "./counter-queries";
import type { RedisCounter } from "./redis-counter";
import { type JournalEntry, returnOf } from "./redis-journal";
import type { ReconcileOptions, Reconciliation, StockDrift } from "./types";

/** Longer than any purchase takes: what is older and has no order will not get one. */
export const SETTLED_BY_MS = 60_000;

/** Counter and row side by side, without changing either. Exact while nobody buys. */
export async function readDrift(counter: RedisCounter, queries: CounterQueries): Promise<StockDrift> {
  const { left, journal } = await counter.snapshot();
  const stock = await queries.stock(counter.target);
  return { counter: left, stock, pending: unitsOf(journal), drift: left === null ? 0 : left - stock };
}

/**
 * Settles what crashes and lost replies have left: an entry whose order is in PostgreSQL is struck off the journal, one
 * without gives its units back; units that were announced to come back do so if their order was ended. With nothing left under way the counter is then set to what the row says.
 *
 * Safe beside buyers, and on several nodes at once: each entry is settled by one step that only one can do, entries
 * younger than `olderThanMs` are left alone, and the counter is corrected only if it has not moved meanwhile.
 */
export async function reconcile(
  counter: RedisCounter,
  queries: CounterQueries,
  { olderThanMs = SETTLED_BY_MS, isDead = () => false }: ReconcileOptions,
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
  return { kept, givenBack, pending, corrected: await correct(counter, queries) };
}

/** Whether the counter is right as it is: the order is there that units were taken for, or was not ended after all. */
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

function unitsOf(entries: readonly JournalEntry[]): number {
  return entries.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** @returns by how much the counter was moved */
async function correct(counter: RedisCounter, queries: CounterQueries): Promise<number> {
  const { left, journal } = await counter.snapshot();
  if (left === null || journal.length > 0) return 0;
  const stock = await queries.stock(counter.target);
  if (stock === left || !(await counter.correct(left, stock))) return 0;
  return stock - left;
}
