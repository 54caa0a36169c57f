import type { Finding } from "./finding";
import { type History, operationsById } from "./history";
import type { Operation } from "./operation";
import { firstInvocations } from "./timeline";

/** Converts clock readings to microseconds since the run's first purchase. */
export interface RunRelativeTime {
  /** Uses the clock of the host of the first operation; null if the finding has no time. */
  ofFinding(finding: Finding): number | null;
  /** `readingNs` is a reading of the clock of the run's first host. */
  ofReading(readingNs: string): number;
}

export function runRelativeTimeOf(history: History): RunRelativeTime {
  const firsts = firstInvocations(history.ops);
  const originNsOf = ({ clock, host }: Operation) => clock.originNs + BigInt(firsts.get(host) ?? 0);
  const [first] = history.ops;
  const zero = first ? originNsOf(first) : 0n;
  return {
    ofFinding: ({ opIds, atNs }) => {
      const op = operationsById(history).get(opIds[0] ?? "");
      return atNs === null ? null : microsAfter(op ? originNsOf(op) : zero, atNs);
    },
    ofReading: (readingNs) => microsAfter(zero, readingNs),
  };
}

/** The earliest time of these findings; null if none has a time. */
export function firstRunRelativeUs(history: History, findings: readonly Finding[]): number | null {
  const { ofFinding } = runRelativeTimeOf(history);
  return findings.reduce<number | null>((first, finding) => {
    const at = ofFinding(finding);
    return at === null || (first !== null && first <= at) ? first : at;
  }, null);
}

function microsAfter(zeroNs: bigint, readingNs: string): number {
  return Math.round(Number(BigInt(readingNs) - zeroNs) / 1_000);
}
