import { once } from "node:events";
import pg from "pg";
import { env } from "../services/current-env";
import { nowNs } from "../services/monotonic";
import { type Fault, FaultMissed } from "./fault";
import { crowd } from "./matrix-sale";
import { whyNoProxies } from "./network-fault";
import { whyNoTopology } from "./topologies/topology-lease";

const ANSWER_LIMIT_MS = 5_000;

/**
 * Sells through PgBouncer with transaction pooling, which gives the same server connection to another client after each
 * transaction. A lock of a session belongs to the server connection, so that the next client on it gets the lock again.
 */
export const pgbouncerTransaction: Fault = {
  id: "pgbouncer-transaction",
  topology: "pgbouncer",
  does: "Puts PgBouncer with transaction pooling between the nodes and PostgreSQL for the whole run.",
  proof: "the pool mode, transactions, client connections and server connections that PgBouncer reports",
  defaultDurationMs: () => null,

  whyNotApplicable: ({ traits }) => (traits.family === "sql" ? null : "its lock is not in PostgreSQL"),
  whyUnavailable: () => whyNoTopology() ?? whyNoProxies(env().STORE_NODES),

  expectationOf({ traits }) {
    if (traits.heldBySession) {
      return {
        effect: "unsafe",
        reason:
          "The lock stays on the server connection, which PgBouncer gives to the next client after the transaction, and that client gets the lock again.",
      };
    }
    return {
      effect: "safe",
      reason: "Its locks end with the transaction, and PgBouncer keeps one server connection for a transaction.",
    };
  },
  matrixSale: (traits) => crowd(traits),

  async inject({ topology, untilDue, closing }) {
    if (!topology) throw new FaultMissed("the run has no topology");
    await untilDue();
    const fromNs = nowNs();
    if (!closing.aborted) await once(closing, "abort");
    const toNs = nowNs();
    const { mode, transactions, clients, servers } = await usageOf(topology.address("pgbouncer"));
    if (mode !== "transaction" || transactions === 0) {
      throw new FaultMissed(`PgBouncer served ${transactions} transactions in pool mode ${mode}`);
    }
    const proof = `PgBouncer, in pool mode ${mode}, served ${transactions} transactions of ${clients} client connections with ${servers} server connections.`;
    return { fromNs, toNs, proof };
  },
};

interface Usage {
  readonly mode: string;
  readonly transactions: number;
  readonly clients: number;
  readonly servers: number;
}

/** What PgBouncer's admin console reports. @throws FaultMissed if it does not answer */
async function usageOf(admin: string): Promise<Usage> {
  const limits = { connectionTimeoutMillis: ANSWER_LIMIT_MS, query_timeout: ANSWER_LIMIT_MS };
  const client = new pg.Client({ connectionString: admin, ...limits });
  client.on("error", () => undefined);
  const rows = async (what: string) => (await client.query(`SHOW ${what}`)).rows as Record<string, unknown>[];
  try {
    await client.connect();
    const config = (await rows("CONFIG")).find(({ key }) => key === "pool_mode");
    const ofShop = (row: Record<string, unknown>) => row.database !== "pgbouncer";
    return {
      mode: String(config?.value),
      transactions: (await rows("STATS"))
        .filter(ofShop)
        .reduce((sum, { total_xact_count }) => sum + Number(total_xact_count), 0),
      clients: (await rows("CLIENTS")).filter(ofShop).length,
      servers: (await rows("SERVERS")).filter(ofShop).length,
    };
  } catch (error) {
    throw new FaultMissed(`PgBouncer did not answer: ${(error as Error).message}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}
