import { postgresPool } from "../services/postgres";
import { readUntilIdle } from "./drain";

/** A connection shows its statement until it has sent the reply, also if its client has ended. */
const RUNNING = `SELECT pid || ' ' || query_start AS statement FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'flash-sale-lab %' AND state = 'active'
    AND pid <> pg_backend_pid()`;

/**
 * Waits for the statements that PostgreSQL executes for the lab now. A purchase that ended with an unknown outcome, or with its
 * process, may still write its order through one of them. @returns false if one still runs at the time limit
 */
export async function statementsEnded(limitMs: number): Promise<boolean> {
  const earlier = new Set(await runningStatements());
  const read = async () => (await runningStatements()).filter((statement) => earlier.has(statement));
  const left = earlier.size === 0 ? [] : await readUntilIdle(read, ({ length }) => length, limitMs);
  return left.length === 0;
}

async function runningStatements(): Promise<string[]> {
  const { rows } = await postgresPool().query<{ statement: string }>(RUNNING);
  return rows.map(({ statement }) => statement);
}
