/** A purchase from a counter that records its value. A `failed` purchase may have taken units and given them back. */
export interface CounterCall {
  readonly from: number;
  readonly length: number;
  readonly outcome: "sold" | "sold_out" | "failed" | "unknown";
  readonly quantity: number;
  /** The counter before the purchase; null if it was not recorded. */
  readonly value: number | null;
}

/**
 * True if some order of decrements and give-backs explains all answers. A failed or unknown purchase may take its units
 * at any time after its request, or never if it recorded no value. A failed one may return them once, at any later time.
 * Tries every order, so only for a few calls.
 */
export function explainable(calls: readonly CounterCall[], initial: number): boolean {
  return search({ open: calls, taken: [] }, initial);
}

interface World {
  /** Calls that have not taken effect. */
  readonly open: readonly CounterCall[];
  /** Units of failed calls that can still be returned. */
  readonly taken: readonly number[];
}

function search({ open, taken }: World, left: number): boolean {
  if (open.every(mayNeverHappen)) return true;
  const isReturned = taken.some((units, index) => search({ open, taken: without(taken, index) }, left + units));
  if (isReturned) return true;
  const deadline = Math.min(...open.map((call) => (hasDeadline(call) ? call.from + call.length : Infinity)));
  return open.some((call, index) => {
    if (call.from > deadline) return false;
    const isSoldOut = call.outcome === "sold_out";
    const fits = isSoldOut ? left < call.quantity : left >= call.quantity;
    if (!fits || (call.value !== null && call.value !== left)) return false;
    const next = {
      open: without(open, index),
      taken: call.outcome === "failed" ? [...taken, call.quantity] : taken,
    };
    return search(next, isSoldOut ? left : left - call.quantity);
  });
}

function hasDeadline({ outcome }: CounterCall): boolean {
  return outcome === "sold" || outcome === "sold_out";
}

/** A purchase that recorded a value reached the counter. */
function mayNeverHappen(call: CounterCall): boolean {
  return !hasDeadline(call) && call.value === null;
}

function without<T>(all: readonly T[], index: number): T[] {
  return [...all.slice(0, index), ...all.slice(index + 1)];
}
