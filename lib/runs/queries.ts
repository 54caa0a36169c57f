import { postgresPool, prisma } from "../services/postgres";
import type { RunDocument } from "./document";
import type { RunSample } from "./run-sample";
import { readSamplesAfter, readStoredRun } from "./run-store";
import { type SweepDocument, type SweepSummary, sweepDocument } from "./sweep";

export async function readRun(id: string): Promise<RunDocument | null> {
  return (await readStoredRun(id))?.document ?? null;
}

/** The last finished run of every strategy that has one. */
export async function latestRunPerStrategy(): Promise<RunDocument[]> {
  const result = await postgresPool().query(
    `SELECT DISTINCT ON (strategy) document FROM runs WHERE status = 'finished' ORDER BY strategy, opened_at DESC`,
  );
  return (result.rows as { document: RunDocument }[]).map((row) => row.document);
}

export async function readSamples(id: string): Promise<RunSample[]> {
  return readSamplesAfter(id, 0);
}

/** A run and its samples after a number, from one statement and so from one snapshot; null if there is no such run. */
export async function readFeed(
  id: string,
  afterSeq: number,
): Promise<{ readonly document: RunDocument; readonly samples: readonly RunSample[] } | null> {
  const result = await postgresPool().query({
    name: "run_feed",
    text: `SELECT document, coalesce((SELECT json_agg(data ORDER BY seq) FROM run_samples
      WHERE run_id = runs.id AND seq > $2), '[]') AS samples FROM runs WHERE id = $1`,
    values: [id, afterSeq],
  });
  return (result.rows[0] as { document: RunDocument; samples: RunSample[] } | undefined) ?? null;
}

/** The runs with these ids, in this order; ids without a run are left out. */
export async function readRuns(ids: readonly string[]): Promise<RunDocument[]> {
  const rows = await prisma().run.findMany({ where: { id: { in: [...ids] } }, select: { id: true, document: true } });
  const found = new Map(rows.map((row) => [row.id, row.document as unknown as RunDocument]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Those of the ids that are ids of runs of this lab. */
export async function knownRunIds(ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await prisma().run.findMany({ where: { id: { in: [...ids] } }, select: { id: true } });
  return new Set(rows.map(({ id }) => id));
}

/** The newest finished runs of a strategy. */
export async function finishedRunsOf(strategy: string, limit: number): Promise<RunDocument[]> {
  const rows = await prisma().run.findMany({
    where: { strategy, status: "finished" },
    orderBy: { openedAt: "desc" },
    take: limit,
    select: { document: true },
  });
  return rows.map((row) => row.document as unknown as RunDocument);
}

/** The newest finished run of a strategy with each fault, by the fault's id. */
export async function newestRunsByFault(strategy: string): Promise<Map<string, RunDocument>> {
  const result = await postgresPool().query(
    `SELECT DISTINCT ON (fault->>'id') fault->>'id' AS id, document
     FROM runs, jsonb_array_elements(config->'faults') fault
     WHERE strategy = $1 AND status = 'finished' ORDER BY fault->>'id', opened_at DESC`,
    [strategy],
  );
  return new Map((result.rows as { id: string; document: RunDocument }[]).map(({ id, document }) => [id, document]));
}

/** The newest finished runs of a strategy in which no fault was requested. */
export async function runsWithoutFaults(strategy: string, limit: number): Promise<RunDocument[]> {
  const result = await postgresPool().query(
    `SELECT document FROM runs WHERE strategy = $1 AND status = 'finished'
       AND coalesce(jsonb_array_length(config->'faults'), 0) = 0 ORDER BY opened_at DESC LIMIT $2`,
    [strategy, limit],
  );
  return (result.rows as { document: RunDocument }[]).map(({ document }) => document);
}

/** A sweep, composed from its runs; null if it has none. */
export async function readSweep(id: string): Promise<SweepDocument | null> {
  const result = await postgresPool().query(
    `SELECT document FROM runs WHERE config->'sweep'->>'id' = $1 AND phase <> 'preparing' ORDER BY opened_at`,
    [id],
  );
  return sweepDocument((result.rows as { document: RunDocument }[]).map((row) => row.document));
}

/** The newest sweeps, without their cells. */
export async function listSweeps(limit: number): Promise<SweepSummary[]> {
  const result = await postgresPool().query(
    `SELECT config->'sweep'->>'id' AS id FROM runs WHERE config ? 'sweep'
     GROUP BY 1 ORDER BY max(opened_at) DESC LIMIT $1`,
    [limit],
  );
  const sweeps = await Promise.all((result.rows as { id: string }[]).map(({ id }) => readSweep(id)));
  return sweeps.flatMap((sweep) => {
    if (sweep === null) return [];
    const { cells: _, ...summary } = sweep;
    return [summary];
  });
}
