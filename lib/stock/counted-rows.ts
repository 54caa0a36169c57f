import type { Pool } from "pg";
import { LockError, type LockErrorOptions } from "../locks/errors";
import { isOneEach } from "./redis-counter";
import { stockTables } from "./stock-sql";
import { resourceOf, type StockTarget } from "./types";

/** What PostgreSQL has to say to a counter that is kept elsewhere. Not for the hot path. */
export class CountedRows {
  constructor(
    private readonly pool: Pool,
    private readonly strategyId: string,
  ) {}

  /** @throws {LockError} `config_invalid` when there is no such row, `backend_unavailable` */
  async stock(target: StockTarget): Promise<number> {
    const { stock } = stockTables(target.kind);
    const [row] = await this.query<{ stock: number }>(target, `SELECT stock FROM ${stock} WHERE id = $1::int`, []);
    if (row) return row.stock;
    throw this.error(target, { code: "config_invalid", message: "the row to sell from does not exist" });
  }

  /** Those who have theirs, where everybody gets one; nobody elsewhere. */
  async buyers(target: StockTarget): Promise<string[]> {
    if (!isOneEach(target)) return [];
    const { orders, stockId } = stockTables(target.kind);
    const rows = await this.query<{ buyer: string }>(
      target,
      `SELECT DISTINCT user_id AS buyer FROM ${orders} WHERE ${stockId} = $1::int`,
      [],
    );
    return rows.map(({ buyer }) => buyer);
  }

  /** Which of these operations have an order. */
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

  private async query<Row>(target: StockTarget, text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return (await this.pool.query(text, [target.id, ...values])).rows as Row[];
    } catch (error) {
      const message = `PostgreSQL did not answer: ${(error as Error).message}`;
      throw this.error(target, { code: "backend_unavailable", message, cause: error });
    }
  }

  private error(target: StockTarget, what: Pick<LockErrorOptions, "code" | "message" | "cause">): LockError {
    return new LockError({ ...what, strategyId: this.strategyId, resource: resourceOf(target), isDefinite: true });
  }
}
