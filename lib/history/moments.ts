import type { Finding } from "./finding";
import type { History } from "./history";
import { firstInvocations } from "./timeline";

/** Readings of the hosts' clocks as microseconds since the run's first purchase. */
export interface Moments {
  /** By the clock of the host of its first operation; null where the finding has no moment. */
  ofFinding(finding: Finding): number | null;
  /** A reading of the clock of the run's first host. */
  ofReading(readingNs: string): number;
}

export function momentsOf({ ops }: History): Moments {
  const firsts = firstInvocations(ops);
  const beginning = new Map<string, bigint>();
  for (const { opId, host, clock } of ops) beginning.set(opId, clock.originNs + BigInt(firsts.get(host) ?? 0));
  const [zero = 0n] = beginning.values();
  return {
    ofFinding: ({ opIds, atNs }) => (atNs === null ? null : microsAfter(beginning.get(opIds[0] ?? "") ?? zero, atNs)),
    ofReading: (readingNs) => microsAfter(zero, readingNs),
  };
}

/** The moment of the earliest of them; null where none has one. */
export function firstMomentUs(history: History, findings: readonly Finding[]): number | null {
  const { ofFinding } = momentsOf(history);
  return findings.reduce<number | null>((first, finding) => {
    const at = ofFinding(finding);
    return at === null || (first !== null && first <= at) ? first : at;
  }, null);
}

function microsAfter(zeroNs: bigint, readingNs: string): number {
  return Math.round(Number(BigInt(readingNs) - zeroNs) / 1_000);
}
