import type { History } from "../history/history";
import { holdsOf } from "../history/holds";
import { byHost } from "../history/intervals";
import type { StrategyTraits } from "../locks/types";
import type { ExpectedEffect, FaultEvent } from "./fault";

/** What the faults have in common that take a server's data away. */

export function restartEffect({ survives }: StrategyTraits): ExpectedEffect {
  const effects = { breaks: "unsafe", blocks: "blocked", survives: "safe", "not-applicable": "safe" } as const;
  return effects[survives.serverRestart];
}

/** Why a history does not show what a lock lost; null if a holder worked for the whole interval, or there is no lock. */
export function whyNoHoldCovers(
  { ops }: History,
  { fromNs, toNs }: Pick<FaultEvent, "fromNs" | "toNs">,
): string | null {
  const holds = [...byHost(ops).values()].flatMap((onHost) => holdsOf(onHost));
  const covers = holds.some(({ op, ...hold }) => {
    const at = (reading: bigint) => Number(reading - op.clock.originNs);
    return hold.fromNs < at(fromNs) && hold.toNs > at(toNs);
  });
  if (covers || holds.length === 0) return null;
  return "no holder worked from before the end of Redis until after its start; choose longer work (--hold-ms 3000)";
}
