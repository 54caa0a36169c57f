import type { StrategyTraits } from "@/lib/locks/types";

/** What a strategy guarantees, and what must hold for it, in sentences from its traits. */
export interface Promises {
  readonly guarantees: readonly string[];
  readonly trusts: readonly string[];
}

export function promisesOf(traits: StrategyTraits): Promises {
  return { guarantees: guaranteesOf(traits), trusts: trustsOf(traits) };
}

function guaranteesOf({ expected, fair, fencingSource, survives, kind }: StrategyTraits): string[] {
  if (expected.alone === "unsafe") return ["Nothing: buyers who come at the same time can buy the same unit."];
  if (expected.threeNodes === "unsafe")
    return ["Sells no unit twice on one store node. Guarantees nothing on several."];
  return [
    "Sells no unit twice, on one store node and on several, as long as what it trusts is true.",
    ...(fair ? ["Serves waiters in the order in which they came."] : []),
    ...(fencingSource === null ? [] : [`PostgreSQL rejects the write of an earlier holder. Token: ${fencingSource}.`]),
    ...(kind === "lock" && survives.holderCrash === "survives" ? ["Frees the lock if its holder crashes."] : []),
  ];
}

function trustsOf({ expected, kind, expiryClock, ownerless, survives }: StrategyTraits): string[] {
  if (expected.alone === "unsafe") return ["No two buyers come at the same time."];
  if (expected.threeNodes === "unsafe") return ["The sale has one store node."];
  const term = expiryClock === "session" ? "session" : "lease";
  const trusts = [
    [expiryClock === "client", "The clocks of all store nodes agree."],
    [
      expiryClock === "server" && survives.holderPause === "breaks",
      "The server's clock runs at the speed of the holder's.",
    ],
    [survives.holderPause === "breaks", `No holder pauses, or works, for longer than its ${term}.`],
    [ownerless === true, "No holder releases late: a release deletes the lock of any holder."],
    [kind === "lock" && survives.holderCrash === "blocks", "No holder crashes: the lock can stay taken."],
    [survives.holderPause === "blocks", "No holder pauses for long: everyone waits for it."],
    [survives.serverRestart === "breaks", "The lock's server keeps its data when it restarts."],
    [survives.serverRestart === "blocks", "The server keeps its data: without it, the sale stops."],
  ] as const;
  const held = trusts.flatMap(([applies, sentence]) => (applies ? [sentence] : []));
  return held.length === 0 ? ["PostgreSQL checks every write."] : held;
}
