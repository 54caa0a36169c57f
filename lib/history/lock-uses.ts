import type { History } from "./history";
import { type Hold, holdsOf } from "./holds";
import { byHost } from "./intervals";
import type { Operation } from "./operation";

/** One acquire and its release, for export to mutex checkers. Times are nanoseconds since the first call. */
export interface LockUse {
  readonly op: Operation;
  /** A process number. No process has two operations open; a number is reused when its last use has ended. */
  readonly process: number;
  readonly acquireCallNs: number;
  readonly acquireReturnNs: number;
  readonly releaseCallNs: number;
  /** Null if no release was recorded. */
  readonly releaseReturnNs: number | null;
}

/** A history cannot be exported for another checker. */
export class ExportError extends Error {
  override readonly name = "ExportError";
}

/**
 * Acquires and releases of one host, sorted by start. Waiters that gave up are left out: they did not change the lock.
 * @throws ExportError if the operations are of several hosts and `host` is absent, or if there is no grant
 */
export function lockUsesOf(history: History, host?: string): LockUse[] {
  const holds = holdsOf(opsOf(history, host));
  const spans = holds.map((hold): Span => ({ hold, callNs: hold.op.waitNs ?? hold.op.invokedNs }));
  spans.sort((a, b) => a.callNs - b.callNs);
  const [first] = spans;
  if (!first)
    throw new ExportError("The history records no grant, so there are no acquires to export. Use a run with a lock.");
  return withProcesses(spans.map((span) => useOf(span, first.callNs)));
}

interface Span {
  readonly hold: Hold;
  readonly callNs: number;
}

function useOf({ hold, callNs }: Span, originNs: number): Omit<LockUse, "process"> {
  const { op, fromNs, toNs } = hold;
  const isRecorded = op.releasedNs !== undefined || op.leaseLostNs !== undefined;
  return {
    op,
    acquireCallNs: callNs - originNs,
    acquireReturnNs: fromNs - originNs,
    releaseCallNs: toNs - originNs,
    releaseReturnNs: isRecorded ? Math.max(toNs, op.answeredNs ?? toNs) - originNs : null,
  };
}

/** Reuses a process number after its last use ended. A use without a recorded release never ends. */
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
    throw new ExportError(`The clocks of hosts ${names.join(", ")} are not comparable. Choose one with --host <name>.`);
  }
  const wanted = host ?? names[0] ?? "";
  const ops = hosts.get(wanted);
  if (!ops && host !== undefined)
    throw new ExportError(`The history has no operation of host ${host}. Its hosts are: ${names.join(", ")}.`);
  return ops ?? [];
}
