/** A purchase from a counter, in flight from `from` to `from + length`. */
export interface CounterOp {
  readonly from: number;
  readonly length: number;
  readonly outcome: "sold" | "sold_out" | "unknown" | "contended";
  readonly quantity: number;
}

/** True if some order of the operations explains all answers. Tries every order, so only for a few operations. */
export function linearizable(all: readonly CounterOp[], initial: number): boolean {
  return search(
    all.filter(({ outcome }) => outcome !== "contended"),
    initial,
  );
}

function search(open: readonly CounterOp[], left: number): boolean {
  // An operation of unknown outcome may never have happened.
  if (open.every(({ outcome }) => outcome === "unknown")) return true;
  // The next operation must have started before every other one was answered.
  const deadline = Math.min(...open.map(endOf));
  return open.some((next, index) => {
    if (next.from > deadline) return false;
    const after = step(next, left);
    return after !== null && search([...open.slice(0, index), ...open.slice(index + 1)], after);
  });
}

function endOf({ from, length, outcome }: CounterOp): number {
  return outcome === "unknown" ? Number.POSITIVE_INFINITY : from + length;
}

/** The units left afterwards; null if the counter would have given another answer. */
function step({ outcome, quantity }: CounterOp, left: number): number | null {
  if (outcome === "sold_out") return left < quantity ? left : null;
  return left >= quantity ? left - quantity : null;
}
