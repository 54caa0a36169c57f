import { isOfEarlierProcess, type StoreNode } from "../node/store-node";
import { missingService } from "../services/missing-service";
import { postgresPool } from "../services/postgres";
import { memcachedCasTraits } from "../stock/memcached-cas";
import { redisDecrementTraits } from "../stock/redis-decrement";
import { returnOf } from "../stock/redis-journal";
import { type ReconcileOptions, resourceOf, type StockStrategy, type StockTarget } from "../stock/types";
import type { ReconcileAnswer, ReconcileRequest, ShopDrift } from "./api";

/** The counts that strategies keep beside PostgreSQL's rows: how far apart they are, and how they come together again. */

/** One strategy a server: `redis-decrement` and `redis-watch` have one counter between them. */
const KEEPERS = [
  { keptIn: "redis", strategyId: redisDecrementTraits.id },
  { keptIn: "memcached", strategyId: memcachedCasTraits.id },
] as const;

type KeptIn = (typeof KEEPERS)[number]["keptIn"];
type CountingStrategy = StockStrategy & Required<Pick<StockStrategy, "drift" | "reconcile">>;

/** A look at a server that does not answer must not keep the page waiting. */
const LOOK_LIMIT_MS = 1_500;

interface Keeper {
  readonly keptIn: KeptIn;
  readonly strategy: CountingStrategy;
}

function keepers(node: StoreNode): Keeper[] {
  return KEEPERS.flatMap(({ keptIn, strategyId }) => {
    if (missingService(keptIn) !== null) return [];
    const strategy = node.strategy(strategyId);
    return strategy.drift && strategy.reconcile ? [{ keptIn, strategy: strategy as CountingStrategy }] : [];
  });
}

/** What is counted of a target at the moment; nothing of a server that does not answer in time. */
export async function driftOf(node: StoreNode, target: StockTarget): Promise<ShopDrift[]> {
  const looks = keepers(node).map(async ({ keptIn, strategy }): Promise<ShopDrift[]> => {
    const { counter, stock, pending, drift } = await within(LOOK_LIMIT_MS, strategy.drift(target));
    return counter === null ? [] : [{ keptIn, counter, stock, pending, drift }];
  });
  const seen = await Promise.allSettled(looks);
  return seen.flatMap((look) => (look.status === "fulfilled" ? look.value : []));
}

/**
 * Settles what crashes and lost replies have left between counters and orders. Entries of this node's former lives are
 * settled whatever their age: whoever made them is gone. With `sparesRuns` the targets of running runs are left alone, so that
 * a fault that a run is there to show is not put right before it is judged.
 */
export async function reconcileCounters(
  node: StoreNode,
  request: ReconcileRequest & { readonly sparesRuns?: boolean } = {},
): Promise<ReconcileAnswer> {
  const { olderThanMs } = request;
  const isDead = (opId: string) => isOfEarlierProcess(node.name, returnOf({ opId })?.opId ?? opId);
  const options = { isDead, ...(olderThanMs === undefined ? {} : { olderThanMs }) };
  const settled: ReconcileAnswer["settled"] = [];
  const failed: string[] = [];
  const spared = request.sparesRuns ? await runningTargets() : new Set<string>();
  const say = (keptIn: KeptIn) => (error: Error) => {
    failed.push(`${keptIn}: ${error.message}`);
    return [];
  };
  for (const { keptIn, strategy } of keepers(node)) {
    const targets = request.target ? [request.target] : await targetsOf(strategy).catch(say(keptIn));
    // What is wrong with one of them keeps none of the others waiting.
    for (const target of targets.filter((each) => !spared.has(resourceOf(each)))) {
      settled.push(...(await settleOne({ keptIn, strategy }, target, options).catch(say(keptIn))));
    }
  }
  return { settled, failed };
}

/** @returns nothing where there was nothing to do */
async function settleOne(
  { keptIn, strategy }: Keeper,
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

/** Those whose journals the server lists; else what the shop shows, and what runs have sold lately. */
async function targetsOf(strategy: StockStrategy): Promise<readonly StockTarget[]> {
  if (strategy.journalledTargets) return strategy.journalledTargets();
  const { rows } = await postgresPool().query<StockTarget>(
    `(SELECT 'product' AS kind, id FROM products WHERE run_id IS NULL ORDER BY id LIMIT 200)
     UNION ALL (SELECT 'coupon', id FROM coupons WHERE run_id IS NULL ORDER BY id LIMIT 200)
     UNION ALL (SELECT document->'target'->>'kind', (document->'target'->>'id')::int FROM runs
       WHERE strategy = $1 AND opened_at > now() - interval '15 minutes' ORDER BY opened_at DESC LIMIT 20)`,
    [strategy.id],
  );
  return [...new Map(rows.map((target) => [resourceOf(target), target])).values()];
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
