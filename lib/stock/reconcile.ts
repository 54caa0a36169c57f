import type { CountedRows } from "./counted-rows";
import type { RedisCounter } from "./redis-counter";
import type { JournalEntry } from "./redis-journal";
import type { ReconcileOptions, Reconciliation, StockDrift } from "./types";

/** Longer than any purchase takes: what is older and has no order will not get one. */
const SETTLED_BY_MS = 60_000;

/** Counter and row side by side, without changing either. Exact while nobody buys. */
export async function readDrift(counter: RedisCounter, rows: CountedRows): Promise<StockDrift> {
  const { left, journal } = await counter.look();
  const stock = await rows.stock(counter.target);
  return { counter: left, stock, pending: unitsOf(journal), drift: left === null ? 0 : left - stock };
}

/**
 * Settles what crashes and lost replies have left: an entry whose order is in PostgreSQL is struck off the journal, one
 * without gives its units back. With nothing left under way the counter is then set to what the row says.
 *
 * Safe beside buyers, and on several nodes at once: each entry is settled by one step that only one can do, entries
 * younger than `olderThanMs` are left alone, and the counter is corrected only if it has not moved meanwhile.
 */
export async function reconcile(
  counter: RedisCounter,
  rows: CountedRows,
  { olderThanMs = SETTLED_BY_MS }: ReconcileOptions,
): Promise<Reconciliation> {
  const { journal, atEpochMs } = await counter.look();
  const old = journal.filter((entry) => atEpochMs - entry.takenAtEpochMs >= olderThanMs);
  const ordered = await rows.withOrder(
    counter.target,
    old.map(({ opId }) => opId),
  );
  let kept = 0;
  let givenBack = 0;
  for (const entry of old) {
    if (ordered.has(entry.opId)) {
      await counter.settle(entry.opId);
      kept += entry.quantity;
    } else if (await counter.giveBack(entry, "forget")) givenBack += entry.quantity;
  }
  const pending = unitsOf(journal) - unitsOf(old);
  return { kept, givenBack, pending, corrected: await correct(counter, rows) };
}

function unitsOf(entries: readonly JournalEntry[]): number {
  return entries.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** @returns by how much the counter was moved */
async function correct(counter: RedisCounter, rows: CountedRows): Promise<number> {
  const { left, journal } = await counter.look();
  if (left === null || journal.length > 0) return 0;
  const stock = await rows.stock(counter.target);
  if (stock === left || !(await counter.correct(left, stock))) return 0;
  return stock - left;
}
