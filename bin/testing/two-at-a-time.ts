/** With a third one, timed tests would become late on two processors. */
const AT_ONCE = 2;

/**
 * Runs two items at a time, and the next one when either ends, so that an item that waits leaves the processors to another.
 * After an abort no item begins.
 * @returns the results in the order of the items
 */
export async function runTwoAtATime<Item, Result>(
  items: readonly Item[],
  { run, signal }: { readonly run: (item: Item) => Promise<Result>; readonly signal: AbortSignal },
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = [...items.entries()];
  const runInTurn = async () => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      const [index, item] = next;
      results[index] = await run(item);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runInTurn));
  // Without those that an abort left out.
  return results.filter(() => true);
}
