import type { RunDocument } from "./document";
import type { NodeClient } from "./node-client";
import type { RunFaults } from "./run-faults";
import type { RunStage } from "./run-sample";
import { Sampler } from "./sampler";
import type { StockDatabase } from "./stock-database";

export interface OpenedRunsOptions {
  readonly nodes: readonly NodeClient[];
  readonly faults: RunFaults;
  /** Another process has ended a run that this process opened. */
  readonly onEndedElsewhere: (id: string) => void;
}

/** What this process keeps of the runs that it opened: live feed, stage and key. */
export class OpenedRuns {
  private readonly samplers = new Map<string, Sampler>();
  /** Stages as far as they are not seen in the figures of the nodes. */
  private readonly stages = new Map<string, RunStage>();
  /** Keys are secret and documents are public, so they are not in the documents. */
  private readonly keys = new Map<string, string>();

  constructor(private readonly options: OpenedRunsOptions) {}

  keepKey(id: string, runKey: string): void {
    this.keys.set(id, runKey);
  }

  /** Starts the live feed of a run. */
  start(document: RunDocument, { stage, stock }: { readonly stage: RunStage; readonly stock: StockDatabase }): void {
    const { nodes, faults, onEndedElsewhere } = this.options;
    const { id } = document;
    const { stages } = this;
    stages.set(id, stage);
    const sampler = new Sampler(document, nodes, {
      get stage() {
        return stages.get(id) ?? "doors";
      },
      stock,
      liveFaults: (lateNodes) => faults.live(id, lateNodes),
      onEnded: () => onEndedElsewhere(id),
    });
    this.samplers.set(id, sampler);
    sampler.start();
  }

  /** The load generator of a run opened here has started. */
  loadStarted(id: string): void {
    if (this.stages.get(id) === "generator") this.stages.set(id, "doors");
  }

  /** The load of a run is over. */
  closing(id: string): void {
    if (this.stages.has(id)) this.stages.set(id, "closing");
  }

  /** The value of `x-run-key` for a run's load; undefined if another process opened the run, or it has ended. */
  keyOf(id: string): string | undefined {
    return this.keys.get(id);
  }

  /** How long the run has been selling. */
  sellingMs(id: string): number {
    return this.samplers.get(id)?.sellingMs ?? 0;
  }

  /** Ends the live feed of a run with its last sample. */
  async stopFeed(id: string): Promise<void> {
    await this.samplers.get(id)?.stop();
  }

  forget(id: string): void {
    this.samplers.delete(id);
    this.stages.delete(id);
    this.keys.delete(id);
  }

  /** Ends all live feeds. */
  async stop(): Promise<void> {
    const samplers = [...this.samplers.values()];
    this.samplers.clear();
    await Promise.allSettled(samplers.map((sampler) => sampler.stop()));
  }
}
