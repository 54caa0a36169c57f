import type { History } from "./history";
import { type Hold, holdsOf } from "./holds";
import { byHost } from "./intervals";
import type { Operation } from "./operation";

/** One acquire and its release, as a checker of mutexes wants them. Nanoseconds since the first call. */
export interface LockUse {
  readonly op: Operation;
  /** Numbered so that no process does two things at once; a process is used again when it has nothing open. */
  readonly process: number;
  readonly acquireCallNs: number;
  readonly acquireReturnNs: number;
  readonly releaseCallNs: number;
  /** Null: when, and whether, the release took effect was not seen. */
  readonly releaseReturnNs: number | null;
}

/** Why a history cannot be put into the form of another checker. */
export class ExportError extends Error {
  override readonly name = "ExportError";
}

/**
 * Acquires and releases of one host, by their beginning. Waiters who were turned away leave no trace: they changed nothing.
 * @throws ExportError when the operations are of several hosts and none is named, or nobody ever held
 */
export function lockUsesOf(history: History, host?: string): LockUse[] {
  const holds = holdsOf(opsOf(history, host));
  const spans = holds.map((hold): Span => ({ hold, callNs: hold.op.waitNs ?? hold.op.invokedNs }));
  spans.sort((a, b) => a.callNs - b.callNs);
  const [first] = spans;
  if (!first) throw new ExportError("no operation records a grant, so there are no acquires to export");
  return withProcesses(spans.map((span) => useOf(span, first.callNs)));
}

interface Span {
  readonly hold: Hold;
  readonly callNs: number;
}

function useOf({ hold, callNs }: Span, originNs: number): Omit<LockUse, "process"> {
  const { op, fromNs, toNs } = hold;
  const wasSeen = op.releasedNs !== undefined || op.leaseLostNs !== undefined;
  return {
    op,
    acquireCallNs: callNs - originNs,
    acquireReturnNs: fromNs - originNs,
    releaseCallNs: toNs - originNs,
    releaseReturnNs: wasSeen ? Math.max(toNs, op.answeredNs ?? toNs) - originNs : null,
  };
}

/** A process is free once its last use was over before the next begins; one that never came back stays taken. */
function withProcesses(uses: readonly Omit<LockUse, "process">[]): LockUse[] {
  const ends = [...uses.keys()].sort((a, b) => endOf(uses[a]) - endOf(uses[b]));
  const processes: number[] = [];
  const free: number[] = [];
  let made = 0;
  let ended = 0;
  for (const [index, use] of uses.entries()) {
    for (let end = ends[ended]; end !== undefined && endOf(uses[end]) < use.acquireCallNs; end = ends[ended]) {
      free.push(processes[end] ?? 0);
      ended += 1;
    }
    processes[index] = free.pop() ?? made++;
  }
  return uses.map((use, index) => ({ ...use, process: processes[index] ?? 0 }));
}

function endOf(use: Pick<LockUse, "releaseReturnNs"> | undefined): number {
  return use?.releaseReturnNs ?? Infinity;
}

function opsOf(history: History, host: string | undefined): readonly Operation[] {
  const hosts = byHost(history.ops);
  const names = [...hosts.keys()];
  if (host === undefined && names.length > 1) {
    throw new ExportError(`times of ${names.join(", ")} do not compare: name one by --host`);
  }
  const wanted = host ?? names[0] ?? "";
  const ops = hosts.get(wanted);
  if (!ops && host !== undefined)
    throw new ExportError(`no operation is of host ${host}; there are: ${names.join(", ")}`);
  return ops ?? [];
}
