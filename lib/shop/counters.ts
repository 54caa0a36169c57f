import { isOfEarlierProcess } from "../node/process-instance";
import type { StoreNode } from "../node/store-node";
import { missingService } from "../services/missing-service";
import { postgresPool } from "../services/postgres";
import { memcachedCasTraits } from "../stock/memcached-cas";
import { redisDecrementTraits } from "../stock/redis-decrement";
import { returnOf } from "../stock/redis-journal";
import { type ReconcileOptions, resourceOf, type StockStrategy, type StockTarget } from "../stock/types";
import type { ReconcileAnswer, ReconcileRequest, ShopDrift } from "./api";

/** Stock counters that strategies keep outside PostgreSQL: their drift from the row, and their reconciliation with it. */

/** One strategy per server: `redis-decrement` and `redis-watch` share a counter. */
const COUNTER_STRATEGIES = [
  { keptIn: "redis", strategyId: redisDecrementTraits.id },
  { keptIn: "memcached", strategyId: memcachedCasTraits.id },
] as const;

type KeptIn = (typeof COUNTER_STRATEGIES)[number]["keptIn"];
type CountingStrategy = StockStrategy & Required<Pick<StockStrategy, "drift" | "reconcile">>;

/** A server that does not answer must not delay the product page. */
const DRIFT_TIMEOUT_MS = 1_500;

interface CounterServer {
  readonly keptIn: KeptIn;
  readonly strategy: CountingStrategy;
}

function counterServers(node: StoreNode): CounterServer[] {
  return COUNTER_STRATEGIES.flatMap(({ keptIn, strategyId }) => {
    if (missingService(keptIn) !== null) return [];
    const strategy = node.strategy(strategyId);
    return strategy.drift && strategy.reconcile ? [{ keptIn, strategy: strategy as CountingStrategy }] : [];
  });
}

/** The drift of each counter of the target. Leaves out servers that have no counter for it or do not answer in time. */
export async function driftOf(node: StoreNode, target: StockTarget): Promise<ShopDrift[]> {
  const reads = counterServers(node).map(async ({ keptIn, strategy }): Promise<ShopDrift[]> => {
    const { counter, stock, pending, drift } = await withTimeout(DRIFT_TIMEOUT_MS, strategy.drift(target));
    return counter === null ? [] : [{ keptIn, counter, stock, pending, drift }];
  });
  const settled = await Promise.allSettled(reads);
  return settled.flatMap((read) => (read.status === "fulfilled" ? read.value : []));
}

export interface ReconcileScope extends ReconcileRequest {
  /** True leaves out targets of running runs, so that a fault's damage is still there when the run is checked. */
  readonly skipsRunningRuns?: boolean;
}

/**
 * Settles journal entries that crashes and lost replies left between counters and orders. Entries of earlier processes of
 * this node are settled regardless of age, because those processes cannot complete them.
 */
export async function reconcileCounters(node: StoreNode, request: ReconcileScope = {}): Promise<ReconcileAnswer> {
  const { olderThanMs } = request;
  const isDead = (opId: string) => isOfEarlierProcess(node.name, returnOf({ opId })?.opId ?? opId);
  const options = { isDead, ...(olderThanMs === undefined ? {} : { olderThanMs }) };
  const settled: ReconcileAnswer["settled"] = [];
  const failed: string[] = [];
  const skipped = request.skipsRunningRuns ? await runningTargets() : new Set<string>();
  const reportFailure = (keptIn: KeptIn) => (error: Error) => {
    failed.push(`${keptIn}: ${error.message}`);
    return [];
  };
  for (const { keptIn, strategy } of counterServers(node)) {
    const targets = request.target ? [request.target] : await targetsOf(strategy).catch(reportFailure(keptIn));
    // A failure with one target does not stop the others.
    for (const target of targets.filter((each) => !skipped.has(resourceOf(each)))) {
      settled.push(...(await settleTarget({ keptIn, strategy }, target, options).catch(reportFailure(keptIn))));
    }
  }
  return { settled, failed };
}

/** @returns an empty array if there was nothing to settle */
async function settleTarget(
  { keptIn, strategy }: CounterServer,
  target: StockTarget,
  options: ReconcileOptions,
): Promise<ReconcileAnswer["settled"]> {
  const { counter } = await strategy.drift(target);
  const result = await strategy.reconcile(target, options);
  const isNothing = counter === null && Object.values(result).every((units) => units === 0);
  return isNothing ? [] : [{ target, keptIn, ...result }];
}

async function runningTargets(): Promise<ReadonlySet<string>> {
  const { rows } = await postgresPool().query<{ resource: string }>(
    `SELECT document->'target'->>'kind' || ':' || (document->'target'->>'id') AS resource
     FROM runs WHERE status = 'running' AND deadline_at > now()`,
  );
  return new Set(rows.map(({ resource }) => resource));
}

/** Targets with a counter or a journal. If the server cannot list them: the shop's targets and those of recent runs. */
async function targetsOf(strategy: StockStrategy): Promise<readonly StockTarget[]> {
  if (strategy.countedTargets) return withRow(await strategy.countedTargets());
  const { rows } = await postgresPool().query<StockTarget>(
    `(SELECT 'product' AS kind, id FROM products WHERE run_id IS NULL ORDER BY id LIMIT 200)
     UNION ALL (SELECT 'coupon', id FROM coupons WHERE run_id IS NULL ORDER BY id LIMIT 200)
     UNION ALL (SELECT document->'target'->>'kind', (document->'target'->>'id')::int FROM runs
       WHERE strategy = $1 AND opened_at > now() - interval '15 minutes' ORDER BY opened_at DESC LIMIT 20)`,
    [strategy.id],
  );
  return [...new Map(rows.map((target) => [resourceOf(target), target])).values()];
}

/** A counter may outlive its product. */
async function withRow(targets: readonly StockTarget[]): Promise<readonly StockTarget[]> {
  const { rows } = await postgresPool().query<{ resource: string }>(
    `SELECT 'product:' || id AS resource FROM products WHERE id = ANY ($1::int[])
     UNION ALL SELECT 'coupon:' || id FROM coupons WHERE id = ANY ($1::int[])`,
    [targets.map(({ id }) => id)],
  );
  const existing = new Set(rows.map(({ resource }) => resource));
  return targets.filter((target) => existing.has(resourceOf(target)));
}

async function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
