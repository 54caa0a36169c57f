import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findExecutable, versionOf } from "../commands";
import {
  type FoundServer,
  PROBE_TIMEOUT_MS,
  type Provisioner,
  READY_TIMEOUT_MS,
  type StartContext,
  serverEnv,
} from "../provisioning";
import { askText, parseHostPort } from "../text-protocol";

/** One ZooKeeper server, started from its jars with a small heap. */
export const provisioner: Provisioner = {
  find: findZooKeeper,
  probe: probeZooKeeper,
  async start(context, found) {
    const port = context.port("zookeeper");
    const isReady = () => ask(port, "ruok").then((answer) => answer === "imok");
    await startZooKeeper(context, found, { name: "zookeeper", port, isReady });
    return `127.0.0.1:${port}`;
  },
};

export interface ZooKeeperOptions {
  readonly name: string;
  readonly port: number;
  readonly isReady: () => Promise<boolean>;
  /** Absent: it runs alone. */
  readonly ensemble?: { readonly id: number; readonly lines: readonly string[] };
}

/** Starts one server. */
export async function startZooKeeper(
  { dataDir, logsDir, start }: StartContext,
  found: FoundServer,
  { name, port, isReady, ensemble }: ZooKeeperOptions,
): Promise<void> {
  const data = path.join(dataDir, "data");
  mkdirSync(data, { recursive: true });
  if (ensemble) writeFileSync(path.join(data, "myid"), String(ensemble.id));
  const config = path.join(dataDir, "zoo.cfg");
  writeFileSync(config, [...configLines(data, port), ...(ensemble?.lines ?? []), ""].join("\n"));
  await start({
    name,
    command: found.binary,
    args: [...JVM_FLAGS, "-cp", classPath() ?? "", "org.apache.zookeeper.server.quorum.QuorumPeerMain", config],
    cwd: dataDir,
    env: serverEnv(),
    logFile: path.join(logsDir, `${name}.log`),
    readyTimeoutMs: READY_TIMEOUT_MS,
    isReady,
  });
}

const JVM_FLAGS = [
  "-Xmx256m",
  "-XX:+UseSerialGC",
  "-Djava.net.preferIPv4Stack=true",
  "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
];

/** A short tick allows sessions of one or two seconds, so that a dead client's lock is freed soon. */
function configLines(dataDir: string, port: number): string[] {
  return [
    "tickTime=500",
    "minSessionTimeout=1000",
    "maxSessionTimeout=60000",
    `dataDir=${dataDir}`,
    `clientPort=${port}`,
    "clientPortAddress=127.0.0.1",
    "admin.enableServer=false",
    "maxClientCnxns=0",
    "4lw.commands.whitelist=*",
    "autopurge.snapRetainCount=3",
    "autopurge.purgeInterval=1",
  ];
}

export async function findZooKeeper(): Promise<FoundServer | null> {
  const javaHome = process.env.JAVA_HOME;
  const binary = findExecutable("java", javaHome ? [path.join(javaHome, "bin", "java")] : []);
  const jars = classPath();
  if (!binary || jars === null) return null;
  const java = await versionOf(binary, ["-version"]).catch(() => null);
  // macOS has a `java` that only prints where to get Java.
  if (java === null || java === "unknown version") return null;
  return { binary, version: jarVersion(jars) ?? "unknown version", origin: `Java ${java}` };
}

/** Debian's jar lists the jars that it needs; other distributions keep all jars in one folder. */
function classPath(): string | null {
  const debian = "/usr/share/java/zookeeper.jar";
  if (existsSync(debian)) return [debian, "/usr/share/java/slf4j-simple.jar"].join(path.delimiter);
  const homes = [
    process.env.ZOOKEEPER_HOME,
    "/opt/zookeeper",
    "/opt/homebrew/opt/zookeeper/libexec",
    "/usr/local/opt/zookeeper/libexec",
  ];
  const libs = homes.filter((home) => home !== undefined).map((home) => path.join(home, "lib"));
  const lib = libs.find(
    (dir) => existsSync(dir) && readdirSync(dir).some((name) => /^zookeeper-\d.*\.jar$/.test(name)),
  );
  return lib === undefined ? null : path.join(lib, "*");
}

function jarVersion(jars: string): string | null {
  const dir = path.dirname(jars.split(path.delimiter)[0] ?? "");
  const name = readdirSync(dir).find((file) => /^zookeeper-\d+\.\d+\.\d+.*\.jar$/.test(file));
  return name === undefined ? null : (/\d+\.\d+\.\d+/.exec(name)?.[0] ?? null);
}

/** `leader`, `follower`, `standalone`, or empty if it does not serve clients. */
export async function zooKeeperMode(port: number): Promise<string> {
  return /^Mode: (\w+)/m.exec(await ask(port, "srvr"))?.[1] ?? "";
}

async function ask(port: number, word: string): Promise<string> {
  return askText({ host: "127.0.0.1", port, send: word, timeoutMs: 1_000 }).catch(() => "");
}

/** Servers answer `srvr` by default. A server that forbids it but accepts connections counts as ZooKeeper of unknown version. */
async function probeZooKeeper(hosts: string): Promise<string> {
  const servers = hosts.replace(/\/.*$/, "").split(",");
  const answers = await Promise.all(
    servers.map((server) => askText({ ...parseHostPort(server, 2_181), send: "srvr", timeoutMs: PROBE_TIMEOUT_MS })),
  );
  return /version: (\d+\.\d+\.\d+)/.exec(answers[0] ?? "")?.[1] ?? "unknown version";
}
