import type { APIRequestContext } from "@playwright/test";
import pg from "pg";

const DATABASE_URL = process.env.DATABASE_URL ?? "";

/** `npm test` sets DATABASE_URL to a test database, where tests may delete runs. In another lab they may not. */
export const nothingNeverRun =
  "not applicable: every strategy of this lab has a run, and tests must not delete runs here";

/** A strategy without a run; null if all have one and tests must not delete runs. */
export async function neverRunStrategy(request: APIRequestContext): Promise<string | null> {
  const { strategies } = (await (await request.get("/api/strategies")).json()) as {
    strategies: { id: string; available: boolean }[];
  };
  const { runs } = (await (await request.get("/api/runs/latest")).json()) as { runs: { strategy: string }[] };
  const available = strategies.filter((strategy) => strategy.available).map(({ id }) => id);
  const never = available.find((id) => !runs.some(({ strategy }) => strategy === id));
  if (never !== undefined || DATABASE_URL === "") return never ?? null;
  const last = available.at(-1) ?? "none";
  await deleteRunsOf(last);
  return last;
}

async function deleteRunsOf(strategy: string): Promise<void> {
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    await client.query("DELETE FROM runs WHERE strategy = $1 AND status <> 'running'", [strategy]);
  } finally {
    await client.end();
  }
}
