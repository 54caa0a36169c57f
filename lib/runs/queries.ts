import { postgresPool, prisma } from "../services/postgres";
import type { RunDocument, RunSample } from "./document";
import { readSamplesAfter, readStoredRun } from "./run-store";

/** Newest first. */
export async function listRuns(limit: number): Promise<RunDocument[]> {
  const rows = await prisma().run.findMany({ orderBy: { openedAt: "desc" }, take: limit, select: { document: true } });
  return rows.map((row) => row.document as unknown as RunDocument);
}

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
