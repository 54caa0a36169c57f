import type { History } from "../history/history";
import { holdsOf } from "../history/holds";
import { byHost } from "../history/intervals";
import type { FaultEvent } from "./fault";

/**
 * Why a history does not show what the end of an ensemble's leader did to a lock; null if a buyer held the lock when it
 * happened, and a purchase got the lock after the election.
 */
export function whyNotHeldAndServed(
  { ops }: History,
  { fromNs, toNs }: Pick<FaultEvent, "fromNs" | "toNs">,
): string | null {
  const holds = [...byHost(ops).values()].flatMap((onHost) => holdsOf(onHost));
  const isHeld = holds.some(({ op, ...hold }) => {
    const at = Number(fromNs - op.clock.originNs);
    return hold.fromNs < at && hold.toNs > at;
  });
  if (!isHeld) return "no buyer held the lock when the leader failed";
  const isServed = ops.some(({ grantedNs = 0, clock }) => grantedNs > Number(toNs - clock.originNs));
  return isServed ? null : "no purchase got the lock after the election";
}
