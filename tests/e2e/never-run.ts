import type { APIRequestContext } from "@playwright/test";
import pg from "pg";

const DATABASE_URL = process.env.DATABASE_URL ?? "";

/** `npm test` brings a database of its own, of which runs may be taken away. Elsewhere a strategy nobody ran has to do. */
export const nothingNeverRun =
  "not applicable: every strategy has been run in this lab, and its runs are not the tests' to delete";

/** A strategy of which the lab has no run; null: there is none, and none may be made. */
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
