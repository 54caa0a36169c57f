import { currentNode } from "../node/current-node";
import { env } from "../services/current-env";
import { postgresPool } from "../services/postgres";
import { serviceStates } from "../services/service-state";
import { processSingleton } from "../services/singleton";
import { traitsOf } from "../stock/stock-strategies";

const PROBE_LIMIT_MS = 2_000;

export interface Readiness {
  readonly ready: boolean;
  readonly node: string;
  readonly strategy: string;
  readonly shuttingDown: boolean;
  readonly postgres: "up" | "down";
  /** The servers of the active strategy that do not answer, beside PostgreSQL. */
  readonly away: readonly string[];
}

const phase = () => processSingleton("phase", () => ({ shuttingDown: false }));

/** From now on this node is not ready: whoever balances load sends it elsewhere. */
export function beginShutdown(): void {
  phase().shuttingDown = true;
}

/**
 * PostgreSQL answers a statement, and the servers of the active strategy accept connections. A run's own strategy is the
 * run's business: it is opened only when its servers are there.
 */
export async function readiness(): Promise<Readiness> {
  const { STORE_NODE: node } = env();
  const strategy = currentNode().activeStrategy;
  const { needs } = traitsOf(strategy);
  const [postgres, states] = await Promise.all([askPostgres(), serviceStates()]);
  const away = states
    .filter(({ id, present }) => id !== "postgres" && !present && needs.includes(id))
    .map(({ label }) => label);
  const { shuttingDown } = phase();
  return {
    ready: postgres === "up" && away.length === 0 && !shuttingDown,
    node,
    strategy,
    shuttingDown,
    postgres,
    away,
  };
}

async function askPostgres(): Promise<"up" | "down"> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<"down">((resolve) => {
    timer = setTimeout(() => resolve("down"), PROBE_LIMIT_MS);
  });
  const probe = postgresPool()
    .query("SELECT 1")
    .then(
      () => "up" as const,
      () => "down" as const,
    );
  return Promise.race([probe, limit]).finally(() => clearTimeout(timer));
}
