import { LockError } from "../locks/errors";
import { postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import { resourceOf, type StockTarget } from "../stock/types";

/** Rows are never deleted and ids never reused, so a target once seen needs no second look. */
const known = new Map<string, Promise<boolean>>();
const MAX_KNOWN = 10_000;

/**
 * Whether there is such a row. Askers at the same moment share one query; only a yes is remembered.
 * @throws {LockError} `backend_unavailable`
 */
export function targetExists(target: StockTarget): Promise<boolean> {
  const key = resourceOf(target);
  const remembered = known.get(key);
  if (remembered) return remembered;
  if (known.size >= MAX_KNOWN) known.clear();
  const asked = lookUp(target);
  known.set(key, asked);
  asked.then(
    (exists) => exists || known.delete(key),
    () => known.delete(key),
  );
  return asked;
}

async function lookUp(target: StockTarget): Promise<boolean> {
  try {
    const { stock } = stockTables(target.kind);
    const result = await postgresPool().query(`SELECT 1 FROM ${stock} WHERE id = $1::int`, [target.id]);
    return result.rowCount === 1;
  } catch (error) {
    throw new LockError({
      code: "backend_unavailable",
      strategyId: "shop",
      resource: resourceOf(target),
      message: `PostgreSQL did not answer: ${(error as Error).message}`,
      isDefinite: true,
      cause: error,
    });
  }
}
