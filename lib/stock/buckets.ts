import type { Pool } from "pg";
import { stockStatement } from "./stock-sql";
import type { StockTarget } from "./types";

/** Enough buckets that the writers of three nodes rarely collide; few enough that locking all of them is cheap. */
export const BUCKETS = 16;

export interface Split {
  readonly units: number;
  readonly buckets: number;
}

/** Splits `units` over the buckets and sets the row to 0, regardless of what both held. One statement, safe during sales. */
export async function splitStock(pool: Pool, target: StockTarget, { units, buckets }: Split): Promise<void> {
  await pool.query({ ...stockStatement(target.kind, "splitStock"), values: [target.id, units, buckets] });
}

/** Moves the units of all buckets back into the row and deletes the buckets. One statement, safe during sales. */
export async function foldBuckets(pool: Pool, target: StockTarget): Promise<void> {
  await pool.query({ ...stockStatement(target.kind, "foldBuckets"), values: [target.id] });
}
