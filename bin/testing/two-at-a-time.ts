/** With a third one, timed tests would become late on two processors. */
const AT_ONCE = 2;

interface How<Item, Result> {
  readonly run: (item: Item) => Promise<Result>;
  readonly signal: AbortSignal;
  /** Whether the two items must not run at the same time. Absent: any two may. */
  readonly excludesEachOther?: (one: Item, other: Item) => boolean;
}

/**
 * Runs two items at a time, so that an item that waits leaves the processors to another. When one ends, the first waiting item
 * begins that may run beside the other. After an abort no item begins.
 * @returns the results in the order of the items
 */
export async function runTwoAtATime<Item, Result>(
  items: readonly Item[],
  { run, signal, excludesEachOther = () => false }: How<Item, Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = [...items.entries()];
  const running = new Map<Item, Promise<void>>();
  const mayBegin = ([, item]: readonly [number, Item]) =>
    [...running.keys()].every((other) => !excludesEachOther(other, item));
  const begin = (index: number, item: Item) => {
    const end = run(item).then((result) => {
      results[index] = result;
      running.delete(item);
    });
    running.set(item, end);
  };
  for (;;) {
    while (running.size < AT_ONCE && !signal.aborted) {
      const next = waiting.find(mayBegin);
      if (next === undefined) break;
      waiting.splice(waiting.indexOf(next), 1);
      begin(...next);
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  // Without those that an abort left out.
  return results.filter(() => true);
}
