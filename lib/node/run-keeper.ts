import { log } from "../services/log";
import { postgresPool } from "../services/postgres";
import type { RunAssignment, RunPhase } from "./run-assignment";
import type { StoreNode } from "./store-node";

export interface RunningRun {
  readonly phase: RunPhase;
  readonly assignment: RunAssignment;
}

const CHECK_EVERY_MS = 5_000;
const RETRY_EVERY_MS = 250;

export async function readRunningRuns(): Promise<RunningRun[]> {
  const { rows } = await postgresPool().query<RunningRun>(
    "SELECT phase, assignment FROM runs WHERE status = 'running' AND assignment IS NOT NULL",
  );
  return rows;
}

/**
 * Keeps a node's runs in step with PostgreSQL, which knows of a run before any node does. At the start of the process it takes
 * running runs on again; until then the node sells nothing as the shop, because it might sell a run's row. Later it frees the
 * targets and the memory of runs that have ended, also if the call that closes them was lost.
 */
export class RunKeeper {
  private timer: NodeJS.Timeout | null = null;
  private isStopped = false;
  private round: Promise<void> = Promise.resolve();
  private hasWarned = false;

  constructor(
    private readonly node: StoreNode,
    private readonly read: () => Promise<readonly RunningRun[]> = readRunningRuns,
  ) {}

  /** Resolves after the first attempt to read the runs. If it failed, the next ones follow, and the shop stays closed. */
  async start(): Promise<void> {
    this.node.knowsRuns = false;
    this.round = this.check();
    await this.round;
    this.schedule();
  }

  /** Resolves when the current round has finished. */
  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.round;
  }

  private schedule(): void {
    if (this.isStopped) return;
    const afterMs = this.node.knowsRuns ? CHECK_EVERY_MS : RETRY_EVERY_MS;
    this.timer = setTimeout(() => {
      this.round = this.check();
      void this.round.then(() => this.schedule());
    }, afterMs);
    this.timer.unref();
  }

  /** One round. A round that fails changes nothing, and the next one retries. */
  async check(): Promise<void> {
    // A run that is reserved after the read began may be missing from it.
    const known = this.node.allRuns().map(({ assignment }) => assignment.runId);
    if (this.node.knowsRuns && known.length === 0) return;
    try {
      const running = await this.read();
      if (!this.node.knowsRuns) this.takeOn(running);
      const ids = new Set(running.map(({ assignment }) => assignment.runId));
      for (const id of known.filter((runId) => !ids.has(runId))) this.end(id);
      this.hasWarned = false;
    } catch (error) {
      if (!this.hasWarned)
        log().warn({ reason: (error as Error).message }, "could not read the running runs; retrying");
      this.hasWarned = true;
    }
  }

  private takeOn(running: readonly RunningRun[]): void {
    for (const { phase, assignment } of running) {
      const isResumed = phase !== "preparing";
      this.node.reserve(assignment, isResumed);
      if (phase !== "preparing") this.node.open(assignment.runId);
      if (phase === "closing") this.node.close(assignment.runId);
      log().info({ runId: assignment.runId, phase }, "took a running run on again");
    }
    this.node.knowsRuns = true;
  }

  private end(runId: string): void {
    this.node.close(runId);
    this.node.forget(runId);
  }
}
