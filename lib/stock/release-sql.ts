/**
 * The statements that end pending orders of one product and return their units. Each is one atomic round trip: orders, stock and
 * allowances change together or not, so no unit comes back twice, even after a crash or from two nodes at once.
 *
 * $1 product, $2 order ids, $3 cancelled | expired, $4 reason or null, $5 only deadlines up to this or null, $6 op id
 * -> due: number of orders that were still pending; released: the orders that were ended. If orders were due and none was
 * released, the condition on the product's row failed.
 *
 * An allowance does not go below 0: a run resets it, so it may not count an order that was placed before. A negative number would
 * fail the CHECK of buyer_allowances and with it the statement.
 *
 * Lock order: orders by id, then the product's row, then allowances. A purchase inserts its new order last.
 */
export interface ReleaseSql {
  /** Adds the units to the current stock. */
  readonly releaseRelative: string;
  /** $7 stock read. Writes the absolute value, as a lock holder does. */
  readonly releaseAbsolute: string;
  /** $7 stock read, $8 fencing token. */
  readonly releaseFenced: string;
  /** $7 stock read, $8 version read. */
  readonly releaseVersioned: string;
}

function release(stock: string, condition = ""): string {
  return `WITH due AS MATERIALIZED (
      SELECT id, user_id, quantity FROM orders
      WHERE id = ANY($2::bigint[]) AND product_id = $1::int AND status = 'pending' AND stock_taken
        AND ($5::timestamptz IS NULL OR expires_at <= $5::timestamptz)
      ORDER BY id FOR UPDATE),
    units AS MATERIALIZED (SELECT coalesce(sum(quantity), 0)::int AS back FROM due),
    returned AS MATERIALIZED (
      UPDATE products s SET stock = ${stock} + units.back, version = s.version + 1 FROM units
      WHERE s.id = $1::int AND units.back > 0${condition} RETURNING s.id),
    released AS (
      UPDATE orders o SET status = $3::text, end_reason = $4::text, ended_at = now(), ended_by = $6::text,
        stock_taken = false
      FROM due, returned WHERE o.id = due.id RETURNING o.id, o.user_id, o.quantity),
    freed AS (
      UPDATE buyer_allowances a SET units = greatest(a.units - had.units, 0)
      FROM (SELECT user_id, sum(quantity)::int AS units FROM due, returned GROUP BY user_id) had
      WHERE a.product_id = $1::int AND a.user_id = had.user_id)
    SELECT (SELECT count(*)::int FROM due) AS due,
      (SELECT coalesce(json_agg(json_build_object('orderId', id::text, 'buyerId', user_id, 'quantity', quantity)), '[]')
        FROM released) AS released`;
}

export const releaseStatements: ReleaseSql = {
  releaseRelative: release("s.stock"),
  releaseAbsolute: release("$7::int"),
  releaseFenced: release("$7::int", " AND s.fence = $8::bigint"),
  releaseVersioned: release("$7::int", " AND s.version = $8::int"),
};

/**
 * Ends pending orders that took no units: $1 order ids, $2 cancelled | expired, $3 reason or null, $4 only deadlines up to this
 * or null, $5 op id -> order_id of each ended order. Returns their units to the buyers' allowances.
 */
export const END_WITHOUT_STOCK = `WITH due AS MATERIALIZED (
      SELECT id FROM orders WHERE id = ANY($1::bigint[]) AND status = 'pending' AND NOT stock_taken
        AND ($4::timestamptz IS NULL OR expires_at <= $4::timestamptz) ORDER BY id FOR UPDATE),
    ended AS (
      UPDATE orders o SET status = $2::text, end_reason = $3::text, ended_at = now(), ended_by = $5::text
      FROM due WHERE o.id = due.id RETURNING o.id, o.product_id, o.user_id, o.quantity),
    freed AS (
      UPDATE buyer_allowances a SET units = greatest(a.units - had.units, 0)
      FROM (SELECT product_id, user_id, sum(quantity)::int AS units FROM ended GROUP BY product_id, user_id) had
      WHERE a.product_id = had.product_id AND a.user_id = had.user_id)
    SELECT id::text AS order_id FROM ended`;
