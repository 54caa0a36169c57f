import type { OrderClauses } from "./order-sql";
import type { StockTarget } from "./types";

/**
 * The statements of `sql-buckets`. Each is one atomic round trip. Parameters as in stock-sql.ts: $1 id, $2.. order (of
 * which $3 is the quantity).
 *
 * Lock order, which prevents deadlocks: a statement that waits while it holds locks takes the buckets in ascending order and the
 * row last. The other statements hold no lock while they wait, or do not wait.
 */
export interface BucketSql {
  /**
   * $8 random number below $9, $9 number of buckets -> order_id, or no row when no unlocked bucket has enough units. Skips locked
   * buckets and never waits. Each buyer starts at bucket ($9 - $8) % $9, so that buyers rarely collide.
   */
  readonly takeFromFreeBucket: string;
  /**
   * $8, $9 as above -> order_id, or no row when no bucket has enough units or the chosen one was emptied during the wait. Waits
   * for that bucket only.
   */
  readonly takeFromBusyBucket: string;
  /**
   * -> order_id, or no row when buckets and row together have too few units. Locks every bucket with stock, so that it misses
   * neither a unit in a locked bucket nor units spread over several. Takes the rest from the row. `stock`: the row's stock
   * afterwards, if all units came from the row.
   */
  readonly takeFromAll: string;
  /** $1 id, $2 units, $3 number of buckets. Splits the units evenly over the buckets and sets the row to 0. */
  readonly splitStock: string;
  /** $1 id. Moves the units of all buckets back into the row and deletes the buckets. */
  readonly foldBuckets: string;
}

interface Names {
  readonly kind: StockTarget["kind"];
  readonly stock: string;
  /** The order clauses, which insert an order for `taken (id)`. */
  readonly orderOf: (extrasAt: number) => OrderClauses;
}

/** SQL expression of the total stock of row `s`: the row plus its buckets. */
export function wholeStockOf(kind: StockTarget["kind"]): string {
  return `(s.stock + coalesce((SELECT sum(units) FROM stock_buckets b WHERE ${of(kind, "s.id")}), 0))::int`;
}

export function bucketStatements({ kind, stock, orderOf }: Names): BucketSql {
  const mine = of(kind, "$1::int");
  // The search starts at bucket ($9 - $8) % $9 and wraps around.
  const candidate = `SELECT b.bucket FROM stock_buckets b WHERE ${mine} AND b.units >= $3::int
        ORDER BY (b.bucket + $8::int) % $9::int LIMIT 1`;
  const one = orderOf(10);
  const takeFromOne = (picked: string) => `WITH ${one.before} picked AS MATERIALIZED (${picked}),
      taken AS (
        UPDATE stock_buckets b SET units = b.units - $3::int FROM picked
        WHERE ${mine} AND b.bucket = picked.bucket AND b.units >= $3::int${one.condition} RETURNING b.target_id AS id)
    ${one.conclude()}`;
  return {
    takeFromFreeBucket: takeFromOne(`${candidate} FOR UPDATE SKIP LOCKED`),
    takeFromBusyBucket: takeFromOne(candidate),
    takeFromAll: takeFromAll(mine, stock, orderOf(8)),
    splitStock: `WITH filled AS (
        INSERT INTO stock_buckets (kind, target_id, bucket, units)
        SELECT '${kind}', $1::int, n,
          CASE WHEN n < $3::int THEN $2::int / $3::int + (n < $2::int % $3::int)::int ELSE 0 END
        FROM generate_series(0, greatest($3::int - 1, (SELECT max(b.bucket) FROM stock_buckets b WHERE ${mine}))) n
        ORDER BY n
        ON CONFLICT (kind, target_id, bucket) DO UPDATE SET units = EXCLUDED.units RETURNING 1)
      UPDATE ${stock} SET stock = 0, version = version + 1 WHERE id = $1::int AND (SELECT count(*) FROM filled) > 0`,
    foldBuckets: `WITH locked AS MATERIALIZED (
        SELECT b.bucket FROM stock_buckets b WHERE ${mine} ORDER BY b.bucket FOR UPDATE),
      gone AS (DELETE FROM stock_buckets b USING locked WHERE ${mine} AND b.bucket = locked.bucket RETURNING b.units),
      left_over AS MATERIALIZED (SELECT coalesce(sum(units), 0)::int AS units FROM gone)
      UPDATE ${stock} s SET stock = s.stock + left_over.units, version = s.version + 1 FROM left_over
      WHERE s.id = $1::int AND left_over.units > 0`,
  };
}

function takeFromAll(mine: string, stock: string, order: OrderClauses): string {
  return `WITH ${order.before} locked AS MATERIALIZED (
      SELECT b.bucket, b.units FROM stock_buckets b WHERE ${mine} AND b.units > 0 ORDER BY b.bucket FOR UPDATE),
    lined_up AS (
      SELECT bucket, units, sum(units) OVER (ORDER BY bucket) - units AS before FROM locked),
    short AS MATERIALIZED (
      SELECT greatest(0, $3::int - coalesce(sum(units), 0))::int AS units FROM locked),
    topped_up AS (
      UPDATE ${stock} s SET stock = s.stock - short.units, version = s.version + 1 FROM short
      WHERE s.id = $1::int AND short.units > 0 AND s.stock >= short.units${order.condition} RETURNING s.id, s.stock),
    taken AS MATERIALIZED (
      SELECT $1::int AS id FROM short WHERE units = 0${order.condition} UNION ALL SELECT id FROM topped_up),
    emptied AS (
      UPDATE stock_buckets b SET units = b.units - least(lined_up.units, $3::int - lined_up.before)::int
      FROM lined_up, taken
      WHERE ${mine} AND b.bucket = lined_up.bucket AND lined_up.before < $3::int)
    ${order.conclude(", (SELECT stock FROM topped_up, short WHERE short.units = $3::int) AS stock")}`;
}

function of(kind: StockTarget["kind"], id: string): string {
  return `b.kind = '${kind}' AND b.target_id = ${id}`;
}
