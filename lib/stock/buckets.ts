import type { Pool } from "pg";
import { stockStatement } from "./stock-sql";
import type { StockTarget } from "./types";

/** The stock of a target in buckets, apart from selling it. Each is one statement, safe beside buyers. */

/** Enough that the writers of three nodes rarely meet, few enough that looking at all of them costs little. */
export const BUCKETS = 16;

export interface Split {
  readonly units: number;
  readonly buckets: number;
}

/** Deals `units` out over the buckets, whatever they and the row held before; the row is left at nothing. */
export async function splitStock(pool: Pool, target: StockTarget, { units, buckets }: Split): Promise<void> {
  await pool.query({ ...stockStatement(target.kind, "splitStock"), values: [target.id, units, buckets] });
}

/** Puts what the buckets hold back into the row and removes them. Without buckets it changes nothing. */
export async function foldBuckets(pool: Pool, target: StockTarget): Promise<void> {
  await pool.query({ ...stockStatement(target.kind, "foldBuckets"), values: [target.id] });
}
