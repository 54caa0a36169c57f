import { type LockUse, lockUsesOf } from "./lock-uses";
import type { ParsedHistory } from "./parse";

interface JepsenEvent {
  readonly timeNs: number;
  /** Of events at one instant: beginnings before ends, so that nothing looks earlier than it may have been. */
  readonly rank: number;
  readonly use: LockUse;
  readonly type: ":invoke" | ":ok" | ":info";
  readonly f: ":acquire" | ":release";
}

const RANK = { acquireCall: 0, releaseCall: 1, holdOfNoLength: 2, acquireReturn: 3, releaseReturn: 4 } as const;

/**
 * The acquires and releases as a Jepsen history in EDN, one map a line, for `knossos.model/mutex`.
 * @throws ExportError
 * @see https://github.com/jepsen-io/knossos
 */
export function toKnossos({ history }: ParsedHistory, host?: string): string {
  const events = lockUsesOf(history, host).flatMap(eventsOf);
  events.sort((a, b) => a.timeNs - b.timeNs || a.rank - b.rank);
  return events.map((event, index) => `${toEdn(event, index)}\n`).join("");
}

function eventsOf(use: LockUse): JepsenEvent[] {
  // A hold of no length still begins before it ends; sorting keeps the two in this order.
  const isInstant = use.releaseCallNs <= use.acquireReturnNs;
  const granted = isInstant ? RANK.holdOfNoLength : RANK.acquireReturn;
  const released = isInstant ? RANK.holdOfNoLength : RANK.releaseCall;
  const isSeen = use.releaseReturnNs !== null;
  const doneNs = use.releaseReturnNs ?? use.releaseCallNs;
  return [
    { timeNs: use.acquireCallNs, rank: RANK.acquireCall, use, type: ":invoke", f: ":acquire" },
    { timeNs: use.acquireReturnNs, rank: granted, use, type: ":ok", f: ":acquire" },
    { timeNs: use.releaseCallNs, rank: released, use, type: ":invoke", f: ":release" },
    { timeNs: doneNs, rank: RANK.releaseReturn, use, type: isSeen ? ":ok" : ":info", f: ":release" },
  ];
}

function toEdn({ timeNs, use, type, f }: JepsenEvent, index: number): string {
  const { op, process } = use;
  // Hostile strings stay strings: EDN reads JSON's escapes.
  const extra = `:op-id ${JSON.stringify(op.opId)}, :node ${JSON.stringify(op.node)}`;
  return `{:index ${index}, :process ${process}, :type ${type}, :f ${f}, :value nil, :time ${timeNs}, ${extra}}`;
}
