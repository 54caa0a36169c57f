import type { StockTarget } from "./types";

/**
 * What a purchase writes in addition to the stock. `plain`: an order only, for load runs. `shop`: an order with deadline,
 * idempotency key and purchase token, and the buyer's allowance. `settle`: marks an existing order as paid that took no units
 * when it was placed.
 */
export type OrderVariant = "plain" | "shop" | "settle";

export interface OrderTables {
  readonly kind: StockTarget["kind"];
  readonly stock: "products" | "coupons";
  readonly orders: "orders" | "coupon_claims";
  readonly stockId: "product_id" | "coupon_id";
}

/** Numbers of the first parameters of a statement. */
export interface ParameterPlaces {
  /** Buyer id, quantity, op id, run id or null, node, strategy. */
  readonly orderAt: number;
  /** The parameters of the variant: see `extraValues` in stock-store.ts. */
  readonly extrasAt: number;
}

export interface OrderClauses {
  /** Common table expressions before `taken (id)`, the row whose stock was reduced. Ends with a comma, or is empty. */
  readonly before: string;
  /** Further condition of the UPDATE that takes the units. Starts with AND, or is empty. */
  readonly condition: string;
  /** Text after `taken`: further expressions, and the statement that returns order_id and `columns`. */
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

/** The casts are necessary: in a SELECT list, PostgreSQL cannot infer the type of a parameter from the target column. */
function orderParameters(from: number): string[] {
  return ["text", "int", "text", "text", "text", "text"].map((type, offset) => `$${from + offset}::${type}`);
}

/** Counts the buyer's units of a product with a limit. CHECK (units <= allowed) fails the whole statement. */
function allowance(orderAt: number): string {
  return `allowance AS (
      INSERT INTO buyer_allowances AS a (product_id, user_id, units, allowed)
      SELECT s.id, $${orderAt}::text, $${orderAt + 1}::int, s.limit_per_user
      FROM taken t JOIN products s ON s.id = t.id WHERE s.limit_per_user IS NOT NULL
      ON CONFLICT (product_id, user_id) DO UPDATE SET units = a.units + EXCLUDED.units, allowed = EXCLUDED.allowed)`;
}

/** Locks the order before it takes the units, so that the order cannot end or be paid twice in between. */
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

/** Places an order that takes no units: $1 product, $2.. order, $8.. as `shop` -> order_id, or no row when the stock is too low. */
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
