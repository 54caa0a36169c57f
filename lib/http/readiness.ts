import { env } from "../services/current-env";
import { postgresPool } from "../services/postgres";

const PROBE_LIMIT_MS = 2_000;

export interface Readiness {
  readonly ready: boolean;
  readonly node: string;
  readonly postgres: "up" | "down";
}

/** Without PostgreSQL a node can sell nothing; other servers are each strategy's own business. */
export async function readiness(): Promise<Readiness> {
  const limit = new Promise<"down">((resolve) => setTimeout(() => resolve("down"), PROBE_LIMIT_MS).unref());
  const probe = postgresPool()
    .query("SELECT 1")
    .then(
      () => "up" as const,
      () => "down" as const,
    );
  const postgres = await Promise.race([probe, limit]);
  return { ready: postgres === "up", node: env().STORE_NODE, postgres };
}
