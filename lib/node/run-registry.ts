import type { PurchaseMeter, RunFigures } from "./purchase-meter";
import type { Recorder } from "./recorder";
import type { RunAssignment } from "./run-assignment";
import type { RunClients } from "./run-clients";
import type { SpooledRun } from "./spool";

/**
 * `reserved`: purchases of the target are rejected until the stock is ready. `open`: they belong to the run. `closed`: they are
 * rejected until the run has its verdict, because the stock is being counted.
 */
export type RunState = "reserved" | "open" | "closed";

export interface ActiveRun {
  readonly assignment: RunAssignment;
  readonly clients: RunClients;
  readonly meter: PurchaseMeter;
  readonly figures: RunFigures;
  readonly recorder: Recorder;
  /** What earlier process instances of this node recorded; its figures are part of `figures`. */
  readonly spooled: SpooledRun | null;
  /** An earlier process instance of this node served the run. */
  readonly isResumed: boolean;
  state: RunState;
}

/** The runs of one node, and the shop's work on each target, which must end before a run may set the stock. */
export class RunRegistry {
  private readonly runs = new Map<string, ActiveRun>();
  /** The run that each resource belongs to. */
  private readonly holders = new Map<string, ActiveRun>();
  /** Purchases and give-backs of the shop in flight, by resource. A resource without any has no entry. */
  private readonly shopWork = new Map<string, number>();

  constructor(private readonly onForget: (run: ActiveRun) => void) {}

  get(runId: string): ActiveRun | undefined {
    return this.runs.get(runId);
  }

  all(): readonly ActiveRun[] {
    return [...this.runs.values()];
  }

  holderOf(resource: string): ActiveRun | null {
    return this.holders.get(resource) ?? null;
  }

  /** Adds a run, which from now on holds its resource. Forgets the runs that ended before: the lab has one run at a time. */
  add(resource: string, run: ActiveRun): void {
    for (const { assignment, state } of this.all()) if (state === "closed") this.forget(assignment.runId);
    this.runs.set(run.assignment.runId, run);
    this.holders.set(resource, run);
  }

  /** Frees the run's resource and its memory. Keeps a run that is not closed or has purchases in flight. */
  forget(runId: string): void {
    const run = this.runs.get(runId);
    if (run?.state !== "closed") return;
    for (const [resource, holder] of this.holders) if (holder === run) this.holders.delete(resource);
    if (run.meter.inFlight > 0) return;
    this.runs.delete(runId);
    this.onForget(run);
  }

  enterShopWork(resource: string): void {
    this.shopWork.set(resource, this.countShopWork(resource) + 1);
  }

  leaveShopWork(resource: string): void {
    const left = this.countShopWork(resource) - 1;
    if (left > 0) this.shopWork.set(resource, left);
    else this.shopWork.delete(resource);
  }

  countShopWork(resource: string): number {
    return this.shopWork.get(resource) ?? 0;
  }
}
