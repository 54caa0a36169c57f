import { z } from "zod";
import { postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import type { RunDocument } from "./document";

/** Changes to a stored run that has ended: its name, and its removal. A running run is not touched. */

export const MAX_NAME_LENGTH = 80;

/** Body of `PATCH /api/runs/{id}`. */
export const renameRequestSchema = z.strictObject({
  /** An empty name removes it. */
  name: z.string().trim().max(MAX_NAME_LENGTH),
});

/** @returns the run with its new name; null if no ended run has this id */
export async function renameRun(id: string, name: string): Promise<RunDocument | null> {
  const result = await postgresPool().query(
    `UPDATE runs SET document = CASE WHEN $2 = '' THEN document - 'name' ELSE jsonb_set(document, '{name}', to_jsonb($2::text)) END
     WHERE id = $1 AND status <> 'running' RETURNING document`,
    [id, name],
  );
  const [row] = result.rows as { document: RunDocument }[];
  return row?.document ?? null;
}

/**
 * Deletes a run with its samples and histories. The product or coupon that the run created for itself is deleted with its
 * orders; one that existed before the run stays, with its orders.
 * @returns false if no ended run has this id
 */
export async function deleteRun({ id, target }: Pick<RunDocument, "id" | "target">): Promise<boolean> {
  const { stock, orders, stockId } = stockTables(target.kind);
  // A later run may have sold the row that this one created.
  const own = `SELECT id FROM ${stock} WHERE id = $1 AND run_id = $2 AND NOT EXISTS (
    SELECT 1 FROM runs WHERE document->'target' = jsonb_build_object('kind', $3::text, 'id', $1::int))`;
  const ownOf = [target.id, id, target.kind];
  const client = await postgresPool().connect();
  try {
    await client.query("BEGIN");
    const { rowCount } = await client.query("DELETE FROM runs WHERE id = $1 AND status <> 'running'", [id]);
    if (rowCount === 1) {
      await client.query(`DELETE FROM ${orders} WHERE ${stockId} IN (${own})`, ownOf);
      await client.query(`DELETE FROM ${stock} WHERE id IN (${own})`, ownOf);
    }
    await client.query("COMMIT");
    return rowCount === 1;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}
