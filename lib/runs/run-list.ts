import { postgresPool } from "../services/postgres";
import type { RunDocument } from "./document";
import type { RunFilter } from "./run-filter";

/** The list of runs: newest first, in pages, with filters. */

export interface RunPageList {
  readonly runs: readonly RunDocument[];
  /** Runs on all pages. */
  readonly total: number;
  /** The run that a process opens now. No page has it yet, because it disappears if it cannot be opened. */
  readonly preparing: RunDocument | null;
}

const STATE = "CASE WHEN status IN ('running', 'failed') THEN status ELSE verdict END";
/** $1 strategy, $2 verdict, $3 faults, $4 sweep; null: any. A run that is still being prepared is not listed. */
const MATCHES = `phase <> 'preparing' AND ($1::text IS NULL OR strategy = $1) AND ($2::text IS NULL OR ${STATE} = $2)
  AND ($3::jsonb IS NULL OR config->'faults' @> $3) AND ($4::text IS NULL OR config->'sweep'->>'id' = $4)`;

/** @param size runs on a page */
export async function listRuns(size: number, filter: Partial<RunFilter> = {}): Promise<RunPageList> {
  const { strategy = null, verdict = null, fault, sweep = null, page = 1 } = filter;
  const values = [strategy, verdict, fault === undefined ? null : JSON.stringify([{ id: fault }]), sweep];
  const [counted, found, preparing] = await Promise.all([
    postgresPool().query(`SELECT count(*)::int AS total FROM runs WHERE ${MATCHES}`, values),
    postgresPool().query(
      `SELECT document FROM runs WHERE ${MATCHES} ORDER BY opened_at DESC, id DESC LIMIT $5 OFFSET $6`,
      [...values, size, (page - 1) * size],
    ),
    postgresPool().query(`SELECT document FROM runs WHERE status = 'running' AND phase = 'preparing'`),
  ]);
  return {
    runs: (found.rows as { document: RunDocument }[]).map(({ document }) => document),
    total: (counted.rows[0] as { total: number }).total,
    preparing: (preparing.rows[0] as { document: RunDocument } | undefined)?.document ?? null,
  };
}

/** The strategies and sweeps that the stored runs have, for the filters of the list. Sweeps come newest first. */
export async function runFilterChoices(): Promise<{ readonly strategies: string[]; readonly sweeps: string[] }> {
  const [strategies, sweeps] = await Promise.all([
    postgresPool().query("SELECT DISTINCT strategy FROM runs ORDER BY strategy"),
    postgresPool().query(
      `SELECT config->'sweep'->>'id' AS id FROM runs WHERE config ? 'sweep' GROUP BY 1 ORDER BY max(opened_at) DESC LIMIT 100`,
    ),
  ]);
  return {
    strategies: (strategies.rows as { strategy: string }[]).map(({ strategy }) => strategy),
    sweeps: (sweeps.rows as { id: string }[]).map(({ id }) => id),
  };
}
