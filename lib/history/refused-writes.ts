import { answeredByResourceNs } from "./checkers/stale-writes";
import { actorNames } from "./describe";
import type { Finding } from "./finding";
import { firstFindings } from "./first-findings";
import type { History } from "./history";
import { byHost } from "./intervals";
import { memoize } from "./memoize";
import { clockReading, type Operation } from "./operation";

/** A write that the resource refused because it had seen the token of `newer`. */
export interface RefusedWrite {
  readonly op: Operation;
  readonly newer: Operation;
}

/**
 * Finds the writes of stale holders that fencing stopped: the resource refused them after it had answered a newer token.
 * Compares times, so both holders must be of one host. O(n log n).
 */
export const refusedWritesIn = memoize((history: History): readonly RefusedWrite[] => {
  if (history.run?.fencing === false) return [];
  return [...byHost(history.ops).values()].flatMap((ops) => refusedAmong(history, ops));
});

function refusedAmong(history: History, ops: readonly Operation[]): RefusedWrite[] {
  const seen = ops.flatMap((op) => {
    const seenNs = op.fencingToken === undefined ? undefined : answeredByResourceNs(history, op);
    return seenNs === undefined ? [] : [{ op, seenNs }];
  });
  seen.sort((a, b) => a.seenNs - b.seenNs);
  const refused = ops.filter(isRefused).sort((a, b) => (a.writeNs ?? 0) - (b.writeNs ?? 0));
  const found: RefusedWrite[] = [];
  let newest: Operation | null = null;
  let next = 0;
  for (const op of refused) {
    for (let entry = seen[next]; entry && entry.seenNs < (op.writeNs ?? 0); entry = seen[next]) {
      if (!newest || tokenOf(entry.op) > tokenOf(newest)) newest = entry.op;
      next += 1;
    }
    if (newest && tokenOf(newest) > tokenOf(op)) found.push({ op, newer: newest });
  }
  return found;
}

function isRefused({ fencingToken, writeNs, writeAccepted, outcome }: Operation): boolean {
  return fencingToken !== undefined && writeNs !== undefined && writeAccepted === false && outcome === "error";
}

function tokenOf(op: Operation): bigint {
  return op.fencingToken ?? -1n;
}

/** Each refused write as a remark: fencing did what it is for. */
export function refusedWriteRemarks(history: History): readonly Finding[] {
  const { findings } = firstFindings(refusedWritesIn(history), {
    timeOf: ({ op }) => ({ op, ns: op.writeNs }),
    toFinding: remarkOn,
  });
  return findings;
}

function remarkOn({ op, newer }: RefusedWrite): Finding {
  const [stale, holder] = actorNames(op, newer);
  const write = op.writtenValue === undefined ? "the write" : `the write of ${op.writtenValue}`;
  return {
    kind: "refusedStaleWrite",
    opIds: [op.opId, newer.opId],
    atNs: clockReading(op, op.writeNs),
    sentence: `The resource refused ${write} by ${stale} with fencing token ${op.fencingToken}, because ${holder} had used token ${newer.fencingToken}.`,
    tokens: { stale: String(tokenOf(op)), newest: String(tokenOf(newer)) },
  };
}
