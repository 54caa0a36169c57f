import { writeFileSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { findExecutable, versionOf } from "../../../servers/commands";
import { READY_TIMEOUT_MS, serverEnv } from "../../../servers/provisioning";
import type { Topology } from "./topology";

export const PGBOUNCER = "pgbouncer";
/** The user that the Debian package brings. PgBouncer does not run as root. */
const SYSTEM_USER = "postgres";
const PROBE_TIMEOUT_MS = 1_000;

/** PgBouncer in front of the lab's PostgreSQL, with transaction pooling. */
export const pgbouncer: Topology = {
  id: "pgbouncer",
  label: "PgBouncer with transaction pooling",
  ports: { [PGBOUNCER]: { port: 16_432, offset: 66 } },
  packages: { debian: ["pgbouncer"], brew: "pgbouncer" },

  async find() {
    const binary = findExecutable("pgbouncer");
    return binary ? { binary, version: await versionOf(binary, ["--version"]) } : null;
  },

  async start(context, found) {
    const port = context.port(PGBOUNCER);
    const config = path.join(context.dataDir, "pgbouncer.ini");
    writeFileSync(config, configText(context.databaseUrl, port), { mode: 0o600 });
    const admin = `postgresql://lab@127.0.0.1:${port}/pgbouncer`;
    await context.start({
      name: PGBOUNCER,
      command: found.binary,
      args: [...(process.getuid?.() === 0 ? ["-u", SYSTEM_USER] : []), config],
      cwd: context.dataDir,
      env: serverEnv(),
      logFile: path.join(context.logsDir, `${PGBOUNCER}.log`),
      readyTimeoutMs: READY_TIMEOUT_MS,
      // SIGINT would wait for its clients.
      stopSignal: "SIGTERM",
      isReady: () => answers(admin),
    });
    return { servers: { postgres: pooledUrl(context.databaseUrl, port) }, processes: { [PGBOUNCER]: admin } };
  },
};

/** The same database through PgBouncer. `pgbouncer=true` tells clients that prepared statements do not work. */
function pooledUrl(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  url.searchParams.set("pgbouncer", "true");
  return url.href;
}

/** Enough for every lock session of three nodes to wait while the holder works. */
const POOL_SIZE = 48;

function configText(databaseUrl: string, port: number): string {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const login = [
    `host=${quoted(hostname.replace(/^\[|\]$/g, ""))}`,
    `port=${serverPort === "" ? "5432" : serverPort}`,
    `user=${quoted(decodeURIComponent(username))}`,
    ...(password === "" ? [] : [`password=${quoted(decodeURIComponent(password))}`]),
  ];
  return [
    "[databases]",
    `* = ${login.join(" ")}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    // Every client logs in as the user above; PgBouncer listens on the loopback interface only.
    "auth_type = any",
    "admin_users = lab",
    "pool_mode = transaction",
    `default_pool_size = ${POOL_SIZE}`,
    "max_client_conn = 500",
    "ignore_startup_parameters = statement_timeout,extra_float_digits",
    "",
  ].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

async function answers(admin: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: admin, connectionTimeoutMillis: PROBE_TIMEOUT_MS });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SHOW VERSION");
    return true;
  } catch {
    return false; // Not listening yet.
  } finally {
    await client.end().catch(() => undefined);
  }
}
