import { type LockUse, lockUsesOf } from "./lock-uses";
import type { ParsedHistory } from "./parse";

interface JepsenEvent {
  readonly timeNs: number;
  /** Of events at one instant: beginnings before ends, so that nothing looks earlier than it may have been. */
  readonly rank: 0 | 1;
  readonly use: LockUse;
  readonly type: ":invoke" | ":ok" | ":info";
  readonly f: ":acquire" | ":release";
}

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
  // A hold of no length at all still begins before it ends.
  const releaseNs = Math.max(use.releaseCallNs, use.acquireReturnNs + 1);
  const event = (timeNs: number, type: JepsenEvent["type"], f: JepsenEvent["f"]): JepsenEvent => {
    return { timeNs, rank: type === ":invoke" ? 0 : 1, use, type, f };
  };
  const returned: JepsenEvent =
    use.releaseReturnNs === null
      ? event(releaseNs, ":info", ":release")
      : event(Math.max(releaseNs, use.releaseReturnNs), ":ok", ":release");
  return [
    event(use.acquireCallNs, ":invoke", ":acquire"),
    event(use.acquireReturnNs, ":ok", ":acquire"),
    event(releaseNs, ":invoke", ":release"),
    returned,
  ];
}

function toEdn({ timeNs, use, type, f }: JepsenEvent, index: number): string {
  const { op, process } = use;
  // Hostile strings stay strings: EDN reads JSON's escapes.
  const extra = `:op-id ${JSON.stringify(op.opId)}, :node ${JSON.stringify(op.node)}`;
  return `{:index ${index}, :process ${process}, :type ${type}, :f ${f}, :value nil, :time ${timeNs}, ${extra}}`;
}
