import path from "node:path";
import { z } from "zod";
import { findExecutable, versionOf } from "../commands";
import {
  type FoundServer,
  PROBE_TIMEOUT_MS,
  type Provisioner,
  READY_TIMEOUT_MS,
  type StartContext,
  serverEnv,
} from "../provisioning";

/** etcd, a cluster of one member. */
export const provisioner: Provisioner = {
  find: findEtcd,
  probe: async (given) => {
    const versions = await Promise.all(given.split(",").map((url) => askVersion(url, PROBE_TIMEOUT_MS)));
    return versions[0] ?? "unknown version";
  },
  start: (context, found) => startEtcd(context, found, { name: "etcd", peerPort: "etcd-peer" }),
};

export async function findEtcd(): Promise<FoundServer | null> {
  const binary = findExecutable("etcd");
  return binary ? { binary, version: await versionOf(binary, ["--version"]) } : null;
}

export interface EtcdOptions {
  /** Also the name of its client port. */
  readonly name: string;
  /** Name of the port for other members. */
  readonly peerPort: string;
  /** All members, as `name=url,name=url`. Absent: it runs alone. */
  readonly cluster?: string;
}

/** Starts one member. @returns its client URL */
export async function startEtcd(
  context: StartContext,
  found: FoundServer,
  { name, peerPort, cluster }: EtcdOptions,
): Promise<string> {
  const clientUrl = `http://127.0.0.1:${context.port(name)}`;
  const peerUrl = `http://127.0.0.1:${context.port(peerPort)}`;
  const settings = {
    name,
    "data-dir": path.join(context.dataDir, "data"),
    "listen-client-urls": clientUrl,
    "advertise-client-urls": clientUrl,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": cluster ?? `${name}=${peerUrl}`,
    logger: "zap",
    "log-level": "warn",
  };
  await context.start({
    name,
    command: found.binary,
    args: Object.entries(settings).map(([key, value]) => `--${key}=${value}`),
    cwd: context.dataDir,
    // etcd 3.4 refuses to start on 64-bit ARM without this variable.
    env: serverEnv(process.arch === "arm64" ? { ETCD_UNSUPPORTED_ARCH: "arm64" } : {}),
    logFile: path.join(context.logsDir, `${name}.log`),
    readyTimeoutMs: READY_TIMEOUT_MS,
    isReady: () => isHealthy(clientUrl),
  });
  return clientUrl;
}

const versionSchema = z.object({ etcdserver: z.string() });
const healthSchema = z.object({ health: z.string() });

async function askVersion(url: string, timeoutMs: number): Promise<string> {
  const response = await fetch(new URL("/version", url), { signal: AbortSignal.timeout(timeoutMs) });
  return versionSchema.parse(await response.json()).etcdserver;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(new URL("/health", url), { signal: AbortSignal.timeout(1_000) });
    return healthSchema.parse(await response.json()).health === "true";
  } catch {
    return false; // Not ready yet.
  }
}
