import type { Pool } from "pg";
import { LockError, type LockErrorOptions } from "../locks/errors";
import type { BuyerUnits } from "./redis-counter";
import { stockTables } from "./stock-sql";
import { type HeldOrder, resourceOf, type StockTarget } from "./types";

const BOUGHT: Readonly<Record<StockTarget["kind"], string>> = {
  product: `SELECT user_id AS buyer, units FROM buyer_allowances WHERE product_id = $1::int`,
  coupon: `SELECT user_id AS buyer, quantity AS units FROM coupon_claims WHERE coupon_id = $1::int`,
};

/** Queries that initialize and reconcile a counter outside PostgreSQL. Not for the hot path. */
export class CounterQueries {
  constructor(
    private readonly pool: Pool,
    private readonly strategyId: string,
  ) {}

  /** @throws {LockError} `config_invalid` when there is no such row, `backend_unavailable` */
  async stock(target: StockTarget): Promise<number> {
    const { stock } = stockTables(target.kind);
    const [row] = await this.query<{ stock: number }>(target, `SELECT stock FROM ${stock} WHERE id = $1::int`, []);
    if (row) return row.stock;
    throw this.error(target, {
      code: "config_invalid",
      message: `the row of ${resourceOf(target)} does not exist; create it or choose another target`,
    });
  }

  /** Units per buyer. Empty for products without a limit. */
  async buyers(target: StockTarget): Promise<BuyerUnits[]> {
    return this.query<BuyerUnits>(target, BOUGHT[target.kind], []);
  }

  /** Units of one buyer. */
  async bought(target: StockTarget, buyerId: string): Promise<BuyerUnits> {
    const [row] = await this.query<BuyerUnits>(
      target,
      `SELECT * FROM (${BOUGHT[target.kind]}) b WHERE buyer = $2::text`,
      [buyerId],
    );
    return row ?? { buyer: buyerId, units: 0 };
  }

  /** The operations among `opIds` that have an order. */
  async withOrder(target: StockTarget, opIds: readonly string[]): Promise<Set<string>> {
    if (opIds.length === 0) return new Set();
    const { orders, stockId } = stockTables(target.kind);
    const rows = await this.query<{ op_id: string }>(
      target,
      `SELECT op_id FROM ${orders} WHERE ${stockId} = $1::int AND op_id = ANY($2::text[])`,
      [opIds],
    );
    return new Set(rows.map((row) => row.op_id));
  }

  /** The orders among `returns` that were ended by the given operation. */
  async endedBy(target: StockTarget, returns: readonly { orderId: string; opId: string }[]): Promise<Set<string>> {
    if (returns.length === 0) return new Set();
    const rows = await this.query<Pick<HeldOrder, "orderId">>(
      target,
      `SELECT o.id::text AS "orderId" FROM orders o, unnest($2::bigint[], $3::text[]) AS r (id, op)
       WHERE o.product_id = $1::int AND o.id = r.id AND o.ended_by = r.op`,
      [returns.map(({ orderId }) => orderId), returns.map(({ opId }) => opId)],
    );
    return new Set(rows.map(({ orderId }) => orderId));
  }

  private async query<Row>(target: StockTarget, text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return (await this.pool.query(text, [target.id, ...values])).rows as Row[];
    } catch (error) {
      const message = `PostgreSQL failed a query: ${(error as Error).message}`;
      throw this.error(target, { code: "backend_unavailable", message, cause: error });
    }
  }

  private error(target: StockTarget, what: Pick<LockErrorOptions, "code" | "message" | "cause">): LockError {
    return new LockError({ ...what, strategyId: this.strategyId, resource: resourceOf(target), isDefinite: true });
  }
}
