import { LockError } from "../locks/errors";
import { postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import { resourceOf, type StockTarget } from "../stock/types";

/** On what terms a target is sold. */
export interface TargetTerms {
  /** Units one buyer may have; null: as many as there are. */
  readonly limitPerBuyer: number | null;
  readonly stockOn: "order" | "payment";
  readonly requiresPurchaseToken: boolean;
  /** Null: the shop's own. */
  readonly paymentWindowMs: number | null;
  readonly opensAtEpochMs: number | null;
}

interface Remembered {
  readonly askedAtMs: number;
  readonly terms: Promise<TargetTerms | null>;
}

/** Terms may change at any time, and count within this. A crowd of a run is not made to wait for a look at them as often. */
const FRESH_MS = 1_000;
const FRESH_IN_RUN_MS = 30_000;
const MAX_REMEMBERED = 10_000;
const remembered = new Map<string, Remembered>();

/**
 * The terms of a target, or null when there is no such row. Askers at the same moment share one query.
 * @param forRun asked by the load of a run
 * @throws {LockError} `backend_unavailable`
 */
export function targetTerms(target: StockTarget, forRun = false): Promise<TargetTerms | null> {
  const key = resourceOf(target);
  const known = remembered.get(key);
  const freshMs = forRun ? FRESH_IN_RUN_MS : FRESH_MS;
  if (known && performance.now() - known.askedAtMs < freshMs) return known.terms;
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  const asked = { askedAtMs: performance.now(), terms: lookUp(target) };
  remembered.set(key, asked);
  const forget = () => {
    if (remembered.get(key) === asked) remembered.delete(key);
  };
  asked.terms.then((terms) => terms ?? forget(), forget);
  return asked.terms;
}

const COLUMNS: Readonly<Record<StockTarget["kind"], string>> = {
  product: `limit_per_user AS "limitPerBuyer", stock_on AS "stockOn", payment_window_ms AS "paymentWindowMs",
    requires_purchase_token AS "requiresPurchaseToken"`,
  coupon: `1 AS "limitPerBuyer", 'order' AS "stockOn", NULL::int AS "paymentWindowMs", false AS "requiresPurchaseToken"`,
};

async function lookUp(target: StockTarget): Promise<TargetTerms | null> {
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
