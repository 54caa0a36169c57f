import { type BucketSql, bucketStatements } from "./bucket-sql";
import { type OrderTables, type OrderVariant, orderClauses } from "./order-sql";
import { type ReleaseSql, releaseStatements } from "./release-sql";
import type { StockTarget } from "./types";

/**
 * The statements of a hot row, one set per table. Each is one atomic round trip; all values are parameters.
 *
 * From `$orderAt` on, every writing statement takes the order: buyer id, quantity, op id, run id or null, node, strategy.
 */
export interface StockSql extends BucketSql, ReleaseSql {
  /** $1 id -> stock, version. No lock. */
  readonly read: string;
  /** $1 id, $2 fencing token -> stock, or no row when the row has a newer token. Registers the token in the row. */
  readonly readFenced: string;
  /** $1 id, $2 new stock, $3.. order -> order_id. Writes the absolute value, as naive application code does. */
  readonly writeAbsolute: string;
  /** $1 id, $2 new stock, $3.. order, $9 fencing token -> order_id, or no row when the token is stale. */
  readonly writeFenced: string;
  /** $1 id, $2 new stock, $3.. order, $9 version read -> order_id, or no row when another write came first. */
  readonly writeVersioned: string;
  /** $1 id, $2.. order -> order_id, stock after; no row when the stock is too low. */
  readonly takeGuarded: string;
  /** $1 id, $2.. order -> order_id, stock after. Takes the units without a condition, so the stock can become negative. */
  readonly takeUnguarded: string;
}

/** The statements of one variant (order-sql.ts). The parameters that only this variant takes come last, from `$extrasAt` on. */
function statementsFor(tables: OrderTables, variant: OrderVariant): StockSql {
  const { stock, kind } = tables;
  const write = (condition: string, extrasAt: number) => {
    const order = orderClauses(tables, variant, { orderAt: 3, extrasAt });
    return `WITH ${order.before} taken AS (
      UPDATE ${stock} SET stock = $2::int, version = version + 1
      WHERE id = $1::int${condition}${order.condition} RETURNING id)
    ${order.conclude()}`;
  };
  const take = (condition: string) => {
    const order = orderClauses(tables, variant, { orderAt: 2, extrasAt: 8 });
    return `WITH ${order.before} taken AS (
      UPDATE ${stock} SET stock = stock - $3::int, version = version + 1
      WHERE id = $1::int${condition}${order.condition} RETURNING id, stock)
    ${order.conclude(", (SELECT stock FROM taken) AS stock")}`;
  };
  return {
    read: `SELECT stock, version FROM ${stock} WHERE id = $1::int`,
    readFenced: `UPDATE ${stock} SET fence = $2::bigint WHERE id = $1::int AND fence <= $2::bigint RETURNING stock`,
    writeAbsolute: write("", 9),
    writeFenced: write(" AND fence = $9::bigint", 10),
    writeVersioned: write(" AND version = $9::int", 10),
    takeGuarded: take(" AND stock >= $3::int"),
    takeUnguarded: take(""),
    ...bucketStatements({
      kind,
      stock,
      orderOf: (extrasAt) => orderClauses(tables, variant, { orderAt: 2, extrasAt }),
    }),
    ...releaseStatements,
  };
}

const tablesOf: Record<StockTarget["kind"], OrderTables> = {
  product: { kind: "product", stock: "products", orders: "orders", stockId: "product_id" },
  coupon: { kind: "coupon", stock: "coupons", orders: "coupon_claims", stockId: "coupon_id" },
};

function variantsOf(kind: StockTarget["kind"]): Record<OrderVariant, StockSql> {
  const tables = tablesOf[kind];
  const plain = statementsFor(tables, "plain");
  // Coupons have no payment.
  const settle = kind === "product" ? statementsFor(tables, "settle") : plain;
  return { plain, shop: statementsFor(tables, "shop"), settle };
}

type Prepared = Readonly<Record<StatementName, { readonly name: string; readonly text: string }>>;

function named(kind: StockTarget["kind"]): Record<OrderVariant, Prepared> {
  const variants = variantsOf(kind);
  const name = (variant: OrderVariant) =>
    Object.fromEntries(
      Object.entries(variants[variant]).map(([statement, text]) => {
        const suffix = variant === "plain" ? "" : `_${variant}`;
        return [statement, { name: `${kind}_${statement}${suffix}`, text }];
      }),
    ) as Prepared;
  return { plain: name("plain"), shop: name("shop"), settle: name("settle") };
}

const prepared = { product: named("product"), coupon: named("coupon") };

export type StatementName = keyof StockSql;

/** Text and name of the prepared statement. */
export function stockStatement(
  kind: StockTarget["kind"],
  statement: StatementName,
  variant: OrderVariant = "plain",
): { readonly name: string; readonly text: string } {
  return prepared[kind][variant][statement];
}

/** The tables of a kind of target, for queries outside the hot path. */
export function stockTables(kind: StockTarget["kind"]): OrderTables {
  return tablesOf[kind];
}
