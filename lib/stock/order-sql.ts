import type { StockTarget } from "./types";

/**
 * What a purchase writes beside taking its units. `plain`: an order and nothing else, as a load run wants it. `shop`: an order
 * with a deadline, an idempotency key and a purchase token, and the buyer's allowance. `settle`: nothing new; a pending order
 * that took no units when it was placed is paid.
 */
export type OrderVariant = "plain" | "shop" | "settle";

export interface OrderTables {
  readonly kind: StockTarget["kind"];
  readonly stock: "products" | "coupons";
  readonly orders: "orders" | "coupon_claims";
  readonly stockId: "product_id" | "coupon_id";
}

/** Where a statement's parameters are. */
export interface ParameterPlaces {
  /** Buyer id, quantity, op id, run id or null, node, strategy. */
  readonly orderAt: number;
  /** What the variant needs besides: see `extraValues` in stock-store.ts. */
  readonly extrasAt: number;
}

export interface OrderClauses {
  /** Common table expressions in front of `taken (id)`, the stock's row with its units gone. Ends with a comma, or is empty. */
  readonly before: string;
  /** Condition of the UPDATE that takes the units, from AND on, or empty. */
  readonly condition: string;
  /** Behind `taken`: comma and further expressions, and the statement that returns order_id and `columns`. */
  conclude(columns?: string): string;
}

export function orderClauses(tables: OrderTables, variant: OrderVariant, places: ParameterPlaces): OrderClauses {
  if (variant === "settle") return settle(places);
  const columns = ["user_id", "quantity", "op_id", "run_id", "node", "strategy"];
  const values = orderParameters(places.orderAt);
  if (variant === "shop") {
    const [first = 0, second = 0, third = 0] = [0, 1, 2].map((offset) => places.extrasAt + offset);
    columns.push("idempotency_key");
    values.push(`$${first}::text`);
    if (tables.kind === "product") {
      columns.push("expires_at", "purchase_token_id");
      values.push(`now() + $${second}::int * interval '1 millisecond'`, `$${third}::text`);
    }
  }
  const insert = `INSERT INTO ${tables.orders} (${tables.stockId}, ${columns.join(", ")})
    SELECT id, ${values.join(", ")} FROM taken`;
  const hasAllowance = variant === "shop" && tables.kind === "product";
  return {
    before: "",
    condition: "",
    conclude: (more = "") =>
      hasAllowance
        ? `, ordered AS (${insert} RETURNING id), ${allowance(places.orderAt)}
    SELECT id AS order_id${more} FROM ordered`
        : `${insert} RETURNING id AS order_id${more}`,
  };
}

/** The casts are needed: in a SELECT list PostgreSQL cannot infer a parameter's type from the target column. */
function orderParameters(from: number): string[] {
  return ["text", "int", "text", "text", "text", "text"].map((type, offset) => `$${from + offset}::${type}`);
}

/** The buyer's units of a product that limits them; CHECK (units <= allowed) refuses the whole statement. */
function allowance(orderAt: number): string {
  return `allowance AS (
      INSERT INTO buyer_allowances AS a (product_id, user_id, units, allowed)
      SELECT s.id, $${orderAt}::text, $${orderAt + 1}::int, s.limit_per_user
      FROM taken t JOIN products s ON s.id = t.id WHERE s.limit_per_user IS NOT NULL
      ON CONFLICT (product_id, user_id) DO UPDATE SET units = a.units + EXCLUDED.units, allowed = EXCLUDED.allowed)`;
}

/** The order is locked before the units are taken, so that it cannot end or be paid twice in between. */
function settle({ orderAt, extrasAt }: ParameterPlaces): OrderClauses {
  const [buyer, quantity, op, run, node, strategy] = orderParameters(orderAt);
  return {
    before: `pending AS MATERIALIZED (
      SELECT id FROM orders WHERE id = $${extrasAt}::bigint AND product_id = $1::int AND user_id = ${buyer}
        AND quantity = ${quantity} AND status = 'pending' AND NOT stock_taken
        AND (expires_at IS NULL OR expires_at > now()) FOR UPDATE),`,
    condition: " AND EXISTS (SELECT 1 FROM pending)",
    conclude: (more = "") => `UPDATE orders o SET status = 'paid', stock_taken = true, paid_at = now(),
        op_id = ${op}, run_id = ${run}, node = ${node}, strategy = ${strategy}
      FROM taken, pending WHERE o.id = pending.id RETURNING o.id AS order_id${more}`,
  };
}

/** Places an order that takes no units: $1 product, $2.. order, $8.. as `shop` -> order_id, or no row where nothing is left. */
export const PLACE_WITHOUT_STOCK = `WITH taken AS (
      SELECT id FROM products WHERE id = $1::int AND stock + coalesce((SELECT sum(units) FROM stock_buckets b
        WHERE b.kind = 'product' AND b.target_id = $1::int), 0) >= $3::int),
    ordered AS (
      INSERT INTO orders (product_id, user_id, quantity, op_id, run_id, node, strategy,
        idempotency_key, expires_at, purchase_token_id, stock_taken)
      SELECT id, ${orderParameters(2).join(", ")}, $8::text, now() + $9::int * interval '1 millisecond', $10::text, false
      FROM taken RETURNING id),
    ${allowance(2)}
    SELECT id AS order_id FROM ordered`;
