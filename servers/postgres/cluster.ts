import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { runCommand } from "../commands";
import { PROBE_TIMEOUT_MS, READY_TIMEOUT_MS, type StartContext, serverEnv } from "../provisioning";
import type { PostgresHome } from "./home";

/** Creates PostgreSQL's data folders, and starts servers on them. */

const USER = "lab";
const DATABASE = "flash_sale_lab";
const INITDB_TIMEOUT_MS = 60_000;

export interface ClusterStart {
  /** Of the process, its log and its port. */
  readonly name: string;
  readonly home: PostgresHome;
  /** The data folder. */
  readonly cluster: string;
  /** Settings besides the lab's. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Absent: the server accepts connections. */
  readonly isReady?: (url: string) => Promise<boolean>;
}

/** @returns the address of the lab's database on it, which `createDatabase` creates */
export async function startCluster(context: StartContext, start: ClusterStart): Promise<string> {
  const { name, home, cluster, isReady = accepts } = start;
  const port = context.port(name);
  await context.start({
    name,
    command: path.join(home.binDir, "postgres"),
    args: ["-D", cluster, "-p", String(port), ...settingsOf({ ...SETTINGS, ...start.settings })],
    cwd: home.dataDir,
    env: serverEnv({ LC_ALL: "C" }),
    ...(home.user === undefined ? {} : { user: home.user }),
    logFile: path.join(context.logsDir, `${name}.log`),
    // SIGINT requests a fast shutdown: PostgreSQL disconnects clients and flushes what is committed.
    stopSignal: "SIGINT",
    stopTimeoutMs: 15_000,
    readyTimeoutMs: READY_TIMEOUT_MS,
    isReady: () => isReady(urlOf(port, "postgres")),
  });
  return urlOf(port);
}

/** The lab's database on this port of the loopback interface, or another one. */
export function urlOf(port: number, database = DATABASE): string {
  return `postgresql://${USER}@127.0.0.1:${port}/${database}`;
}

const SETTINGS = {
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

function settingsOf(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** Creates the cluster in a temporary folder and renames it, so that an interrupted initdb leaves no cluster that looks usable. */
export async function createCluster(home: PostgresHome, cluster: string): Promise<void> {
  if (existsSync(path.join(cluster, "PG_VERSION"))) return;
  const fresh = `${cluster}.new`;
  rmSync(fresh, { recursive: true, force: true });
  // No password: PostgreSQL listens on the loopback interface only, like the other servers.
  const args = ["-D", fresh, "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"];
  await runAsOwner(home, [path.join(home.binDir, "initdb"), ...args]);
  mkdirSync(path.dirname(cluster), { recursive: true });
  renameSync(fresh, cluster);
}

/** Copies a cluster whose server does not run. The copy starts as a standby, which receives what the other one writes from then on. */
export async function copyAsStandby(home: PostgresHome, cluster: string, copy: string): Promise<void> {
  await runAsOwner(home, ["sh", "-c", 'cp -Rp "$1" "$2" && : > "$2/standby.signal"', "sh", cluster, copy]);
}

/** Runs a program as the user whom the data belongs to. @throws Error with its messages if it fails */
async function runAsOwner({ dataDir, user }: PostgresHome, [command = "", ...args]: readonly string[]): Promise<void> {
  const result = await runCommand(command, args, {
    timeoutMs: INITDB_TIMEOUT_MS,
    cwd: dataDir,
    env: serverEnv({ LC_ALL: "C" }),
    ...(user === undefined ? {} : { user }),
  });
  if (result.code === 0) return;
  const outcome = result.code === null ? "timed out" : `exited with ${result.code}`;
  throw new Error(`${path.basename(command)} ${outcome}: ${result.stderr.trim()}`);
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
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

async function accepts(url: string): Promise<boolean> {
  return withClient(url, async (client) => {
    await client.query("SELECT 1");
    return true;
  }).catch(() => false);
}

/** Creates the lab's database, unless it exists. */
export async function createDatabase(port: number): Promise<void> {
  await withClient(urlOf(port, "postgres"), async (client) => {
    const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
}
