import { type BucketSql, bucketStatements } from "./bucket-sql";
import type { StockTarget } from "./types";

/**
 * The statements of a hot row, one set a table. Each is one atomic round trip; values are always parameters.
 *
 * Parameters shared by the writing statements, from `$orderAt` on:
 * buyer id, quantity, op id, run id or null, node, strategy.
 */
export interface StockSql extends BucketSql {
  /** $1 id -> stock, version. No lock. */
  readonly read: string;
  /** $1 id, $2 fencing token -> stock, or no row when a newer token was seen. Registers the token at the first read. */
  readonly readFenced: string;
  /** $1 id, $2 new stock, $3.. order -> order_id. Writes the absolute value: the naive write of real code. */
  readonly writeAbsolute: string;
  /** $1 id, $2 new stock, $3.. order, $9 fencing token -> order_id, or no row when the token is stale. */
  readonly writeFenced: string;
  /** $1 id, $2 new stock, $3.. order, $9 version read -> order_id, or no row when somebody else wrote first. */
  readonly writeVersioned: string;
  /** $1 id, $2.. order -> order_id, stock after; no row when fewer units are left. */
  readonly takeGuarded: string;
  /** $1 id, $2.. order -> order_id, stock after. Takes the units whether or not they are there. */
  readonly takeUnguarded: string;
}

interface Tables {
  readonly prefix: StockTarget["kind"];
  readonly stock: "products" | "coupons";
  readonly orders: "orders" | "coupon_claims";
  readonly stockId: "product_id" | "coupon_id";
}

function insertOrder({ orders, stockId }: Tables, from: number): string {
  const values = [0, 1, 2, 3, 4, 5].map((offset) => `$${from + offset}`);
  // The casts are needed: in a SELECT list PostgreSQL cannot infer a parameter's type from the target column.
  const [buyer, quantity, op, run, node, strategy] = values;
  return `INSERT INTO ${orders} (${stockId}, user_id, quantity, op_id, run_id, node, strategy)
    SELECT id, ${buyer}::text, ${quantity}::int, ${op}::text, ${run}::text, ${node}::text, ${strategy}::text FROM taken`;
}

function statementsFor(tables: Tables): StockSql {
  const { stock, prefix: kind } = tables;
  const write = (condition: string) => `WITH taken AS (
      UPDATE ${stock} SET stock = $2::int, version = version + 1 WHERE id = $1::int${condition} RETURNING id)
    ${insertOrder(tables, 3)} RETURNING id AS order_id`;
  const take = (condition: string) => `WITH taken AS (
      UPDATE ${stock} SET stock = stock - $3::int, version = version + 1
      WHERE id = $1::int${condition} RETURNING id, stock)
    ${insertOrder(tables, 2)} RETURNING id AS order_id, (SELECT stock FROM taken) AS stock`;
  return {
    read: `SELECT stock, version FROM ${stock} WHERE id = $1::int`,
    readFenced: `UPDATE ${stock} SET fence = $2::bigint WHERE id = $1::int AND fence <= $2::bigint RETURNING stock`,
    writeAbsolute: write(""),
    writeFenced: write(" AND fence = $9::bigint"),
    writeVersioned: write(" AND version = $9::int"),
    takeGuarded: take(" AND stock >= $3::int"),
    takeUnguarded: take(""),
    ...bucketStatements({ kind, stock, insertOrder: insertOrder(tables, 2) }),
  };
}

const byKind: Record<StockTarget["kind"], Tables & StockSql> = {
  product: named({ prefix: "product", stock: "products", orders: "orders", stockId: "product_id" }),
  coupon: named({ prefix: "coupon", stock: "coupons", orders: "coupon_claims", stockId: "coupon_id" }),
};

function named(tables: Tables): Tables & StockSql {
  return { ...tables, ...statementsFor(tables) };
}

export type StatementName = keyof StockSql;

/** The text and the prepared statement's name for one operation on one kind of target. */
export function stockStatement(kind: StockTarget["kind"], statement: StatementName): { name: string; text: string } {
  return { name: `${byKind[kind].prefix}_${statement}`, text: byKind[kind][statement] };
}

/** The tables behind a kind of target, for queries outside of the hot path. */
export function stockTables(kind: StockTarget["kind"]): Tables {
  return byKind[kind];
}
