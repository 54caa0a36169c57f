import { postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import type { StockTarget } from "../stock/types";

/** The order behind an idempotency key, as its request was answered. */
export interface KeyedOrder {
  readonly orderId: string;
  readonly quantity: number;
  readonly stockTaken: boolean;
  readonly strategy: string;
  readonly node: string;
}

/** Whether a product's order took its units when it was placed. A paid order always has its units, so its product decides. */
const TAKEN_AT_ORDER = `(paid_at IS NULL AND stock_taken OR EXISTS (
  SELECT 1 FROM products p WHERE p.id = product_id AND p.stock_on = 'order'))`;

/** The order that a request with this key created; null if there is none. */
export async function findKeyedOrder(target: StockTarget, buyerId: string, key: string): Promise<KeyedOrder | null> {
  const { orders, stockId } = stockTables(target.kind);
  const { rows } = await postgresPool().query<KeyedOrder>(
    `SELECT id::text AS "orderId", quantity, strategy, node,
       ${target.kind === "product" ? TAKEN_AT_ORDER : "true"} AS "stockTaken"
     FROM ${orders} WHERE ${stockId} = $1::int AND user_id = $2::text AND idempotency_key = $3::text`,
    [target.id, buyerId, key],
  );
  return rows[0] ?? null;
}
