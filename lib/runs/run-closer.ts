import type { CheckedRuns } from "./checked-runs";
import { type ClosedRun, closeRun, isClosed, restoreClosedRun } from "./close-run";
import { type CollectedRun, collectRun } from "./collect-run";
import type { RunDocument } from "./document";
import type { NodeClient } from "./node-client";
import { markClosing } from "./run-claim";
import type { RunFaults } from "./run-faults";

export interface RunCloserOptions {
  readonly nodes: readonly NodeClient[];
  readonly checks: CheckedRuns;
  readonly faults: RunFaults;
  readonly settleLimitMs?: number | undefined;
}

/**
 * Closes each run once per process. Keeps what the nodes reported and what was measured until the run has ended, so that an attempt
 * after an outage of PostgreSQL repeats only what failed.
 */
export class RunCloser {
  private readonly collected = new Map<string, Promise<CollectedRun>>();
  private readonly closed = new Map<string, Promise<ClosedRun>>();

  constructor(private readonly options: RunCloserOptions) {}

  /** Closes the run, unless this or an earlier process has done so. */
  close(document: RunDocument): Promise<ClosedRun> {
    return once(this.closed, document.id, () =>
      isClosed(document) ? restoreClosedRun(document, this.options.checks) : this.collectAndClose(document),
    );
  }

  forget(id: string): void {
    this.collected.delete(id);
    this.closed.delete(id);
  }

  private async collectAndClose(document: RunDocument): Promise<ClosedRun> {
    const { nodes, faults } = this.options;
    const { id } = document;
    const settled = await faults.settled(document);
    // The nodes close the run even if PostgreSQL does not answer.
    const marked = markClosing(id).then(
      () => true,
      () => false,
    );
    const collected = await once(this.collected, id, () => collectRun(settled, nodes));
    if (!(await marked)) await markClosing(id);
    // A node that did not answer may answer the next attempt.
    if (collected.silent.length > 0) this.collected.delete(id);
    return closeRun(settled, collected, { ...this.options, stock: faults.stockOf(settled) });
  }
}

/** A failed attempt must not be the answer to the next call. */
function once<T>(known: Map<string, Promise<T>>, id: string, work: () => Promise<T>): Promise<T> {
  const earlier = known.get(id);
  if (earlier) return earlier;
  const result = work();
  known.set(id, result);
  result.catch(() => known.delete(id));
  return result;
}
