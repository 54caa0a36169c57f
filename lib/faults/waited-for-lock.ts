import { servedNs } from "../history/intervals";
import type { Operation } from "../history/operation";

/** Whether a purchase waited for the lock for at least part of the interval. Times are readings of the host's clock. */
export function waitedBetween(op: Operation, fromNs: bigint, toNs: bigint): boolean {
  const at = (reading: bigint) => Number(reading - op.clock.originNs);
  const endNs = servedNs(op) ?? op.answeredNs ?? Infinity;
  return op.waitNs !== undefined && op.waitNs < at(toNs) && endNs > at(fromNs);
}
