import { type LockUse, lockUsesOf } from "./lock-uses";
import type { ParsedHistory } from "./parse";

interface JepsenEvent {
  readonly timeNs: number;
  /** Orders events of the same instant: calls before returns, so that no operation looks shorter than it was. */
  readonly rank: number;
  readonly use: LockUse;
  readonly type: ":invoke" | ":ok" | ":info";
  readonly f: ":acquire" | ":release";
}

const RANK = { acquireCall: 0, releaseCall: 1, zeroLengthHold: 2, acquireReturn: 3, releaseReturn: 4 } as const;

/**
 * Exports acquires and releases as a Jepsen history in EDN, one map per line, for `knossos.model/mutex`.
 * @throws ExportError
 * @see https://github.com/jepsen-io/knossos
 */
export function toKnossos({ history }: ParsedHistory, host?: string): string {
  const events = lockUsesOf(history, host).flatMap(eventsOf);
  events.sort((a, b) => a.timeNs - b.timeNs || a.rank - b.rank);
  return events.map((event, index) => `${toEdn(event, index)}\n`).join("");
}

function eventsOf(use: LockUse): JepsenEvent[] {
  // A hold of zero length must still start before it ends. The sort is stable, so equal ranks keep this order.
  const isInstant = use.releaseCallNs <= use.acquireReturnNs;
  const granted = isInstant ? RANK.zeroLengthHold : RANK.acquireReturn;
  const released = isInstant ? RANK.zeroLengthHold : RANK.releaseCall;
  const isRecorded = use.releaseReturnNs !== null;
  const doneNs = use.releaseReturnNs ?? use.releaseCallNs;
  return [
    { timeNs: use.acquireCallNs, rank: RANK.acquireCall, use, type: ":invoke", f: ":acquire" },
    { timeNs: use.acquireReturnNs, rank: granted, use, type: ":ok", f: ":acquire" },
    { timeNs: use.releaseCallNs, rank: released, use, type: ":invoke", f: ":release" },
    { timeNs: doneNs, rank: RANK.releaseReturn, use, type: isRecorded ? ":ok" : ":info", f: ":release" },
  ];
}

function toEdn({ timeNs, use, type, f }: JepsenEvent, index: number): string {
  const { op, process } = use;
  // EDN accepts JSON string escapes, so ids with special characters stay valid.
  const extra = `:op-id ${JSON.stringify(op.opId)}, :node ${JSON.stringify(op.node)}`;
  return `{:index ${index}, :process ${process}, :type ${type}, :f ${f}, :value nil, :time ${timeNs}, ${extra}}`;
}
