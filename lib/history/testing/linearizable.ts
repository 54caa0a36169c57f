/** A purchase as a counter sees it, over the instants `from` to `from + length`. */
export interface CounterOp {
  readonly from: number;
  readonly length: number;
  readonly outcome: "sold" | "sold_out" | "unknown" | "contended";
  readonly quantity: number;
}

/** Whether some order of events explains all answers. Tries every order: for a handful of purchases. */
export function linearizable(all: readonly CounterOp[], initial: number): boolean {
  return search(
    all.filter(({ outcome }) => outcome !== "contended"),
    initial,
  );
}

function search(open: readonly CounterOp[], left: number): boolean {
  // What is of unknown outcome need not have happened.
  if (open.every(({ outcome }) => outcome === "unknown")) return true;
  // Next can only be who was asked no later than everybody else was answered.
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

/** What is left afterwards; null when the counter would have answered otherwise. */
function step({ outcome, quantity }: CounterOp, left: number): number | null {
  if (outcome === "sold_out") return left < quantity ? left : null;
  return left >= quantity ? left - quantity : null;
}
