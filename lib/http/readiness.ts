import { currentNode } from "../node/current-node";
import { env } from "../services/current-env";
import { postgresPool } from "../services/postgres";
import { serviceStates } from "../services/service-state";
import { processSingleton } from "../services/singleton";
import { traitsOf } from "../stock/stock-strategies";
import { json, type WholeAnswer } from "./answer";
import { errorTable } from "./error-table";

const PROBE_LIMIT_MS = 2_000;

export interface Readiness {
  readonly ready: boolean;
  readonly node: string;
  readonly strategy: string;
  readonly shuttingDown: boolean;
  readonly postgres: "up" | "down";
  /** The active strategy's servers that do not respond, PostgreSQL excluded. */
  readonly away: readonly string[];
}

const phase = () => processSingleton("phase", () => ({ shuttingDown: false }));

/** Makes the node not ready, so that a load balancer sends new requests to other nodes. */
export function beginShutdown(): void {
  phase().shuttingDown = true;
}

/**
 * The node is ready if PostgreSQL answers a statement and the active strategy's servers accept connections. The strategy of
 * a run is not checked: opening the run does that.
 */
export async function readiness(): Promise<Readiness> {
  const { STORE_NODE: node } = env();
  const strategy = currentNode().activeStrategy;
  const { needs } = traitsOf(strategy);
  const [postgres, states] = await Promise.all([probePostgres(), serviceStates()]);
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

async function probePostgres(): Promise<"up" | "down"> {
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

/** The answer of `/readyz`. Not ready has the status of `backend_unavailable`, and says what is away. */
export function readinessAnswer(state: Readiness): WholeAnswer {
  if (state.ready) return json(state);
  const { status, retryAfterSeconds } = errorTable.backend_unavailable;
  return json(state, { status, headers: { "retry-after": String(retryAfterSeconds) } });
}
