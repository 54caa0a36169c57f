import pg from "pg";
import { requireEnv } from "./lab-env";
import { waitUntil } from "./wait-until";

/** Observes PostgreSQL over a separate connection. */
export interface PgWatch extends AsyncDisposable {
  readonly client: pg.Client;
  /** Number of backends of the application that wait for a lock. */
  waiters(applicationName: string): Promise<number>;
  /** Waits until that many backends wait for a lock. */
  untilWaiting(applicationName: string, count: number): Promise<void>;
  /** Pids of the backends that hold an advisory lock for the application. */
  advisoryHolders(applicationName: string): Promise<number[]>;
  /** Pids of the backends that hold any lock of this library for the application. */
  holders(applicationName: string): Promise<number[]>;
  terminate(pid: number): Promise<void>;
}

export async function openPgWatch(): Promise<PgWatch> {
  requireEnv("DATABASE_URL");
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL, application_name: "pg-watch" });
  await client.connect();
  const count = async (text: string, values: unknown[]) => {
    const { rows } = await client.query<{ n: number }>(text, values);
    return rows[0]?.n ?? 0;
  };
  const waiters = (applicationName: string) =>
    count(
      `SELECT count(*)::int AS n FROM pg_stat_activity
       WHERE application_name = $1 AND state = 'active' AND wait_event_type = 'Lock'`,
      [applicationName],
    );
  return {
    client,
    waiters,
    untilWaiting: (applicationName, wanted) =>
      waitUntil(async () => (await waiters(applicationName)) === wanted, { what: `${wanted} waiting backends` }),
    advisoryHolders: async (applicationName) => {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE l.locktype = 'advisory' AND l.granted AND a.application_name = $1`,
        [applicationName],
      );
      return rows.map(({ pid }) => pid);
    },
    holders: async (applicationName) => {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT a.pid FROM pg_stat_activity a WHERE a.application_name = $1
         AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted
           AND (l.locktype = 'advisory' OR l.mode IN ('ExclusiveLock', 'RowShareLock') AND l.locktype = 'relation'))`,
        [applicationName],
      );
      return rows.map(({ pid }) => pid);
    },
    terminate: async (pid) => {
      await client.query("SELECT pg_terminate_backend($1)", [pid]);
    },
    async [Symbol.asyncDispose]() {
      await client.end();
    },
  };
}
