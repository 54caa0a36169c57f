import type { History } from "./history";
import { lastSeenNs, servedNs } from "./intervals";
import type { Fault } from "./operation";

/** How the lock went on after a fault began. */
export interface Recovery {
  /** From the start of the fault to the next grant; null if there was none. */
  readonly nextGrantMs: number | null;
  /** Purchases that waited for the lock after the fault began and did not get it. */
  readonly unserved: number;
  /** From the start of the fault to the end of the last wait. */
  readonly watchedMs: number;
  /** From the start of the fault to the last grant; null if there was none. */
  readonly lastGrantMs: number | null;
  /**
   * From the next grant to the moment at which the slowest holder detected that it lost the lock; negative if all detected
   * it before. Null if no holder lost it, or no other purchase got it.
   */
  readonly lossSignalMs: number | null;
}

/**
 * Null if no purchase waited for the lock after the fault began. Fault times are readings of one host's clock, so null if
 * operations ran on several hosts. O(n).
 */
export function recoveryOf({ ops }: History, fault: Pick<Fault, "fromNs">): Recovery | null {
  const [clock, ...others] = new Set(ops.map((op) => op.clock));
  if (!clock || others.length > 0) return null;
  const fromNs = Number(fault.fromNs - clock.originNs);
  let nextNs = Infinity;
  let lastNs = -Infinity;
  let lastGrantNs = -Infinity;
  let lossNs = -Infinity;
  let unserved = 0;
  for (const op of ops) {
    if ((op.grantedNs ?? Infinity) <= fromNs && (op.leaseLostNs ?? 0) > fromNs) {
      lossNs = Math.max(lossNs, op.leaseLostNs ?? 0);
    }
    const endNs = servedNs(op) ?? lastSeenNs(op);
    if (op.waitNs === undefined || endNs <= fromNs) continue;
    lastNs = Math.max(lastNs, endNs);
    if (servedNs(op) === undefined) unserved += 1;
    else {
      nextNs = Math.min(nextNs, endNs);
      lastGrantNs = Math.max(lastGrantNs, endNs);
    }
  }
  if (lastNs === -Infinity) return null;
  const millisSince = (ns: number) => (ns - fromNs) / 1e6;
  const watched = { unserved, watchedMs: millisSince(lastNs) };
  if (nextNs === Infinity) return { nextGrantMs: null, ...watched, lastGrantMs: null, lossSignalMs: null };
  return {
    nextGrantMs: millisSince(nextNs),
    ...watched,
    lastGrantMs: millisSince(lastGrantNs),
    lossSignalMs: lossNs === -Infinity ? null : (lossNs - nextNs) / 1e6,
  };
}
