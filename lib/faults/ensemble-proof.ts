import type { History } from "../history/history";
import { holdsOf } from "../history/holds";
import { byHost } from "../history/intervals";

/** What the faults of a leader have in common. Times are readings of the host's monotonic clock. */

/** Why a history does not show what the fault did to a holder; null if a buyer held the lock at that time. */
export function whyNotHeld({ ops }: History, atNs: bigint): string | null {
  const holds = [...byHost(ops).values()].flatMap((onHost) => holdsOf(onHost));
  const isHeld = holds.some(({ op, ...hold }) => {
    const at = Number(atNs - op.clock.originNs);
    return hold.fromNs < at && hold.toNs > at;
  });
  return isHeld ? null : "no buyer held the lock when the leader failed";
}

/** Why a history does not show that the others serve the lock; null if a purchase got it within these times. */
export function whyNotServed(
  { ops }: History,
  { afterNs, beforeNs }: { readonly afterNs: bigint; readonly beforeNs?: bigint },
): string | null {
  const isServed = ops.some(({ grantedNs, clock: { originNs } }) => {
    if (grantedNs === undefined || grantedNs <= Number(afterNs - originNs)) return false;
    return beforeNs === undefined || grantedNs < Number(beforeNs - originNs);
  });
  if (isServed) return null;
  return `no purchase got the lock after the election${beforeNs === undefined ? "" : ", before the fault ended"}`;
}
