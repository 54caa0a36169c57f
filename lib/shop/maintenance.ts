import type { StoreNode } from "../node/store-node";
import { log } from "../services/log";
import { reconcileCounters } from "./counters";
import { expireDueOrders } from "./expiry";
import { deleteOldKeys } from "./idempotency-keys";

/** Longer than any order takes to follow its journal entry. */
const RECONCILE_EVERY_MS = 30_000;
const KEYS_KEPT_MS = 24 * 3_600_000;

/**
 * Periodic jobs of a store node: expire due orders; at the start and every 30 s, reconcile counters and delete old idempotency
 * keys. The next round retries a failed job. Rounds never overlap. Every node runs the jobs, without coordination.
 */
export class ShopMaintenance {
  private timer: NodeJS.Timeout | null = null;
  private isStopped = false;
  private round: Promise<void> = Promise.resolve();
  private reconciledAtMs = Number.NEGATIVE_INFINITY;
  private lastFailures: ReadonlySet<string> = new Set();

  constructor(
    private readonly node: StoreNode,
    private readonly everyMs: number,
  ) {}

  start(): void {
    if (this.everyMs > 0) this.schedule(0);
  }

  /** Resolves when the current round has finished. */
  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.round;
  }

  private schedule(afterMs: number): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.round = this.run();
      void this.round.then(() => this.schedule(this.everyMs));
    }, afterMs);
    this.timer.unref();
  }

  /** A failure is logged again only after a round without it. */
  private async run(): Promise<void> {
    const now = performance.now();
    const failures = await failuresOf([async () => (await expireDueOrders(this.node)).failures]);
    if (now - this.reconciledAtMs >= RECONCILE_EVERY_MS) {
      const failed = await failuresOf([
        () => deleteOldKeys(KEYS_KEPT_MS).then(() => []),
        async () => (await reconcileCounters(this.node, { skipsRunningRuns: true })).failed,
      ]);
      if (failed.length === 0) this.reconciledAtMs = now;
      failures.push(...failed);
    }
    const added = failures.filter((failure) => !this.lastFailures.has(failure));
    if (added.length > 0) log().warn({ reason: added.join("; ") }, "shop maintenance failed; the next round retries");
    this.lastFailures = new Set(failures);
  }
}

/** Runs every job. @returns why jobs failed */
async function failuresOf(jobs: readonly (() => Promise<readonly string[]>)[]): Promise<string[]> {
  const failures: string[] = [];
  for (const job of jobs) failures.push(...(await job().catch((error: Error) => [error.message])));
  return failures;
}
