import { LockError } from "../locks/errors";
import { postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import { resourceOf, type StockTarget } from "../stock/types";

/** The terms on which a target is sold. */
export interface TargetTerms {
  /** Units that one buyer may have; null: no limit. */
  readonly limitPerBuyer: number | null;
  readonly stockOn: "order" | "payment";
  readonly requiresPurchaseToken: boolean;
  /** Null: the shop's default. */
  readonly paymentWindowMs: number | null;
  readonly opensAtEpochMs: number | null;
}

interface CachedTerms {
  readonly readAtMs: number;
  readonly terms: Promise<TargetTerms | null>;
}

/** A change of terms takes effect within this time. Longer in a run, so that its purchases do not wait for the query. */
const CACHED_MS = 1_000;
const CACHED_IN_RUN_MS = 30_000;
const MAX_CACHED = 10_000;
const cache = new Map<string, CachedTerms>();

/**
 * The terms of a target; null if it does not exist. Concurrent calls share one query.
 * @param forRun true for the load of a run
 * @throws {LockError} `backend_unavailable`
 */
export function targetTerms(target: StockTarget, forRun = false): Promise<TargetTerms | null> {
  const key = resourceOf(target);
  const cached = cache.get(key);
  const cachedMs = forRun ? CACHED_IN_RUN_MS : CACHED_MS;
  if (cached && performance.now() - cached.readAtMs < cachedMs) return cached.terms;
  if (cache.size >= MAX_CACHED) cache.clear();
  const entry = { readAtMs: performance.now(), terms: readTerms(target) };
  cache.set(key, entry);
  const evict = () => {
    if (cache.get(key) === entry) cache.delete(key);
  };
  entry.terms.then((terms) => terms ?? evict(), evict);
  return entry.terms;
}

const COLUMNS: Readonly<Record<StockTarget["kind"], string>> = {
  product: `limit_per_user AS "limitPerBuyer", stock_on AS "stockOn", payment_window_ms AS "paymentWindowMs",
    requires_purchase_token AS "requiresPurchaseToken"`,
  coupon: `1 AS "limitPerBuyer", 'order' AS "stockOn", NULL::int AS "paymentWindowMs", false AS "requiresPurchaseToken"`,
};

async function readTerms(target: StockTarget): Promise<TargetTerms | null> {
  const { stock } = stockTables(target.kind);
  try {
    const { rows } = await postgresPool().query<TargetTerms>({
      name: `terms_${target.kind}`,
      text: `SELECT ${COLUMNS[target.kind]}, (extract(epoch FROM opens_at) * 1000)::float8 AS "opensAtEpochMs"
        FROM ${stock} WHERE id = $1::int`,
      values: [target.id],
    });
    return rows[0] ?? null;
  } catch (error) {
    throw new LockError({
      code: "backend_unavailable",
      strategyId: "shop",
      resource: resourceOf(target),
      message: `PostgreSQL did not answer: ${(error as Error).message}`,
      isDefinite: true,
      cause: error,
    });
  }
}
