import type { History } from "../history/history";
import { holdsOf } from "../history/holds";
import { byHost } from "../history/intervals";
import type { StrategyTraits } from "../locks/types";
import type { Expectation, FaultEvent } from "./fault";

/** What the faults have in common that take a server's data away. */

const EXPECTATIONS: Readonly<Record<StrategyTraits["survives"]["serverRestart"], Expectation>> = {
  breaks: {
    effect: "unsafe",
    reason: "The lock is lost with the server's data, so the next buyer gets it beside the holder.",
  },
  blocks: { effect: "blocked", reason: "The stock counter is lost with the server's data, so no more units are sold." },
  survives: { effect: "safe", reason: "Its counter is built again from PostgreSQL, which has every order." },
  "not-applicable": { effect: "safe", reason: "It keeps nothing in the server." },
};

export function restartExpectation({ survives }: StrategyTraits): Expectation {
  return EXPECTATIONS[survives.serverRestart];
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
  return "no holder worked for the whole fault; choose longer work (--hold-ms 3000)";
}
