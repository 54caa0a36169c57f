import type { Recording } from "@/lib/stock/recorded-commands";

/** What one purchase without waiting sends: buyer A's. */
export interface CommandCount {
  readonly server: string;
  readonly commands: number;
}

/** Commands to each server, in the order of their first use. Five servers that get the same command count as five. */
export function commandCounts({ steps }: Recording): CommandCount[] {
  const counts = new Map<string, number>();
  for (const step of steps) {
    if (step.kind !== "command" || step.buyer !== "A") continue;
    counts.set(step.server, (counts.get(step.server) ?? 0) + (step.servers ?? 1) * (step.times ?? 1));
  }
  return [...counts].map(([server, commands]) => ({ server, commands }));
}

/** Waits for a reply. Commands that were sent together share one. */
export function roundTrips({ steps }: Recording): number {
  const sent = steps.filter((step) => step.kind === "command" && step.buyer === "A");
  return new Set(sent.map(({ at }) => at)).size;
}
